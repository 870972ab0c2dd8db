"""Code that runs next to the programs: loaded by path into a bare interpreter, with only the stdlib."""
