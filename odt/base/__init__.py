"""What everything stands on: formats, integer arithmetic, the table of instructions, the executor."""
