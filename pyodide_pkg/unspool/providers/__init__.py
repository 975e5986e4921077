"""Request and response of one vendor's wire each. Pure: no socket, no clock, no random number."""
