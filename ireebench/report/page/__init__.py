"""One self-contained HTML page of a store: no network, no framework, readable without a mouse and on paper."""
