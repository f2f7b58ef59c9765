"""`python -m ireebench`."""

from ireebench.entry import main

if __name__ == "__main__":
    main()
