"""Random problems: sampling by index, perturbations, and the sharded writer."""
