// Sender
