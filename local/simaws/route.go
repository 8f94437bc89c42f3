package simaws

import (
	"net/http"
	"strings"
)

// front hands each request to who answers it: AWS's services have one address for all
// accounts, and know by the credentials whose a request is, and by the signature's scope for
// which region (IAM user guide, "Elements of an AWS API request signature").
func (c *Cloud) front() http.Handler {
	if c.cfg.Route == nil {
		return c.wire
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		part := strings.Split(scope, "/") // key, day, region, service
		if len(part) > 3 {
			if other := c.cfg.Route(part[0], part[2]); other != nil {
				other.wire.ServeHTTP(w, r)
				return
			}
		}
		c.wire.ServeHTTP(w, r)
	})
}

// Admit makes a session known that another account's part of AWS made.
func (c *Cloud) Admit(who Identity) { c.keys.add(who) }

// Revoke ends the sessions of a role, as deleting it does; of all roles where none is named.
func (c *Cloud) Revoke(role string) { c.keys.revoke(role) }

// Knows tells whether an access key is known here.
func (c *Cloud) Knows(accessKeyID string) bool {
	_, ok := c.keys.of(accessKeyID)
	return ok
}
