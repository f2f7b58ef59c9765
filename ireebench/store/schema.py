"""The store's tables, as migrations: opening an older file brings it up to date, a newer one is refused."""

from __future__ import annotations

APPLICATION_ID = 0x49524545  # "IREE": tells our files from other SQLite databases

# One string of statements a version; the n-th brings version n-1 to n. Never edit one that has been released.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE environment (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        body TEXT NOT NULL
    );
    CREATE TABLE source (
        digest TEXT PRIMARY KEY,
        body BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE problem (
        id INTEGER PRIMARY KEY,
        body TEXT NOT NULL UNIQUE
    );
    CREATE TABLE trial (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        problem_id INTEGER NOT NULL REFERENCES problem(id),
        environment_id INTEGER REFERENCES environment(id),
        target TEXT NOT NULL,
        variant TEXT,
        baseline TEXT,
        form TEXT,
        ship TEXT NOT NULL,
        config TEXT NOT NULL,
        status TEXT NOT NULL,
        stage TEXT NOT NULL,
        reason TEXT,
        known TEXT,
        applied INTEGER,
        checked TEXT,
        evidence TEXT,
        compile_key TEXT,
        measure_key TEXT,
        compile_s REAL,
        timer TEXT,
        mlir TEXT REFERENCES source(digest),
        spec TEXT REFERENCES source(digest),
        command TEXT REFERENCES source(digest)
    );
    CREATE INDEX trial_problem ON trial(problem_id, target, variant);
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,
        process INTEGER NOT NULL,
        cache TEXT NOT NULL,
        timer TEXT NOT NULL,
        samples INTEGER NOT NULL,
        median_ns REAL NOT NULL,
        q1_ns REAL NOT NULL,
        q3_ns REAL NOT NULL,
        span_ns REAL NOT NULL,
        kernels TEXT NOT NULL,
        dropped TEXT NOT NULL,
        UNIQUE (trial_id, process, cache)
    );
    CREATE TABLE samples (
        run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
        body BLOB NOT NULL
    );
    CREATE TABLE noise (
        problem_id INTEGER NOT NULL REFERENCES problem(id),
        environment_id INTEGER NOT NULL REFERENCES environment(id),
        timer TEXT NOT NULL,
        cache TEXT NOT NULL,
        process INTEGER NOT NULL,
        relative REAL NOT NULL,
        PRIMARY KEY (problem_id, environment_id, timer, cache, process)
    ) WITHOUT ROWID;
    CREATE TABLE session (
        environment_id INTEGER NOT NULL REFERENCES environment(id),
        body TEXT NOT NULL,
        PRIMARY KEY (environment_id, body)
    ) WITHOUT ROWID;
    CREATE TABLE ceiling (
        environment_id INTEGER PRIMARY KEY REFERENCES environment(id),
        body TEXT NOT NULL
    );
    """,
    "ALTER TABLE trial ADD COLUMN counts TEXT",  # what the emulator executed
    "ALTER TABLE trial ADD COLUMN figure_ns REAL",  # of a baseline that is a single figure
)
