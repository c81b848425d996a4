"""What boards have of odt."""
