"""What runs beside the programs: loaded by path into a bare interpreter, so it imports only the stdlib."""
