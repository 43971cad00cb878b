// ALSAOutput
