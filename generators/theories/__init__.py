"""Horn theories: sampling by what is asked for, and canonical forms."""
