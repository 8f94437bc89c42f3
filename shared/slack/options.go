package slack

import (
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
)

// Options are what a message depends on beside the incident.
type Options struct {
	// Actions tells that buttons are answered: slack-actions is deployed.
	Actions bool
	// Docs is the address of the documentation's site, which has a page for each check;
	// empty for none.
	Docs string
	// Now is what offers and mutes end by; zero: by what the record says alone.
	Now time.Time
}

// live tells that an offer may still be approved.
func (o Options) live(of incident.Offer) bool {
	return o.Actions && of.State == incident.Offered && (of.Expires.IsZero() || o.Now.Before(of.Expires))
}

// ranOut tells that an offer may be approved no more for its age alone.
func (o Options) ranOut(of incident.Offer) bool {
	return o.Actions && of.State == incident.Offered && !of.Expires.IsZero() && !o.Now.IsZero() && !o.Now.Before(of.Expires)
}

// muted tells that nobody is called now.
func (o Options) muted(i incident.Incident) bool {
	return i.Mute != nil && (o.Now.IsZero() || o.Now.Before(i.Mute.Until))
}

// pageOf is the address of a check's page; empty for what is no check, such as a record of
// a newer release may name.
func (o Options) pageOf(id checks.ID) string {
	if _, known := checks.Of(id); !known || o.Docs == "" {
		return ""
	}
	return o.Docs + "/checks/" + string(id) + ".html"
}
