"""Services on loopback with people and troubles, each as the delivery benchmark needs it."""
