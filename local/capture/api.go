package capture

// API answers AWS's calls from a capture. Each of its methods
// func(*XInput) (*XOutput, error) is the operation X, as package wire serves
// it. All pages are in one: a client that asks for pages gets the first, and
// no token.
type API struct{ c *Capture }

// API is the capture as an account.
func (c *Capture) API() API { return API{c} }
