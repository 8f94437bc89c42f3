// Package awscall makes the calls of remedies and of eni-cleanup, the only ones that
// change a customer's resources. It decides nothing. Each is made once and is
// never repeated by itself, and its answer says what came of it in a way that one
// can decide on.
package awscall

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/deleteleakedinterfaces"
)

// Client makes the calls of remedies.
type Client struct {
	Routes
	Instances
	SecurityGroups
	Capacity
	Access
}

var (
	_ remedy.Calls                 = Client{}
	_ deleteleakedinterfaces.Calls = Interfaces{}
)

// New makes one whose clients try each call once.
func New(cfg aws.Config) Client {
	return Client{NewRoutes(cfg), NewInstances(cfg), NewSecurityGroups(cfg), NewCapacity(cfg), NewAccess(cfg)}
}
