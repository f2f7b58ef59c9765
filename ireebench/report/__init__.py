"""Tables, plots and pages: pure functions of stored trials."""
