"""What a visitor can ask for, whichever surface they come by: limits, metrics and work each in one place."""
