"""What `attnprof list` says that pictures and tables are made by."""

from . import program
from .output_file import Refusal


def listed(read, option):
    """read(program), which asks it for `list OPTION`. Throws Refusal (3) where there is no program to ask."""
    try:
        return read(program.find())
    except program.NotUsable as lacking:
        raise Refusal(str(lacking), 3) from None
    except (KeyError, TypeError) as error:
        raise Refusal(f"{program.find()} list {option} lacks {error}; use a program of these scripts' version.", 3) from None
