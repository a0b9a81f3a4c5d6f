"""What must not get worse unseen: instructions of hot kernels, cold starts, memory."""
