package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rollcall/shared/spoke"
)

// Whose is whom a message is about.
type Whose struct {
	// Spoke is the zero ID for the hub's own.
	Spoke spoke.ID
	// All tells that it is of every spoke: a schedule, or a wish that names nobody.
	All bool
}

// Forged is an event that is not what it says: of one account or region by its
// envelope, and of another by what it says. Nothing is done with it.
type Forged struct {
	Type     string
	Envelope spoke.ID
	Says     string // what it says instead
}

func (f *Forged) Error() string {
	return fmt.Sprintf("%q comes from %s and says that it is of %s", f.Type, f.Envelope, f.Says)
}

// claims is what messages say of whose they are.
type claims struct {
	envelope
	Key struct {
		Spoke spoke.ID `json:"spoke"`
	} `json:"key"`
}

// said is what details say of it: CloudTrail's records, those of AWS Health, and our own.
type said struct {
	Account   string `json:"account"`
	Region    string `json:"region"`
	Cluster   string `json:"cluster"`
	Recipient string `json:"recipientAccountId"` // CloudTrail
	AWSRegion string `json:"awsRegion"`          // CloudTrail
	Affected  string `json:"affectedAccount"`    // AWS Health
}

// WhoseIs tells whose a message of a queue or an event is, as the hub sees it.
//
// An event of AWS is of the account and the region that its envelope names. Nobody can
// write those: only AWS may use a source that begins with "aws.", EventBridge sets the
// account, and an event that a rule forwards to the bus of another account or region
// keeps those of its origin. (EventBridge user guide, "AWS service event metadata":
// source, account, region "where the event originated"; API reference, PutPermission,
// Principal: "Rules with an account field do not match any events sent from other
// accounts".) What the event says beside that of another account or region is forged.
//
// Our own messages and events come from the hub's own account, and say whose they are;
// those of releases before there were spokes do not, and are the hub's.
func WhoseIs(body []byte, hub spoke.ID) (Whose, error) {
	var c claims
	if err := json.Unmarshal(body, &c); err != nil {
		return Whose{}, &Malformed{What: "whose it is", Err: err}
	}
	of := spoke.ID{Account: c.Account, Region: c.Region}
	switch {
	case c.Source == "": // on the results queue
		if of.Account == "" {
			of = c.Key.Spoke
		}
		return Whose{Spoke: of.Of(hub)}, nil
	case c.Source == source:
		return ownSays(c, of, hub)
	case of.Account == "" || of.Region == "":
		return Whose{}, &Malformed{What: "whose it is", Err: errors.New("the envelope names no account or no region")}
	case c.Source == "aws.events", c.Source == "aws.scheduler":
		if of != hub {
			return Whose{}, &Forged{Type: c.DetailType, Envelope: of, Says: "the hub, whose schedules alone count"}
		}
		return Whose{All: true}, nil
	}
	return Whose{Spoke: of.Of(hub)}, contradicted(c, of)
}

// ownSays tells whose an event or a message of ours is.
func ownSays(c claims, from, hub spoke.ID) (Whose, error) {
	if from.Account != "" && from != hub {
		return Whose{}, &Forged{Type: c.DetailType, Envelope: from, Says: "the hub, which alone sends such"}
	}
	var d said
	if err := json.Unmarshal(c.Detail, &d); err != nil {
		return Whose{}, &Malformed{What: c.DetailType, Err: err}
	}
	if d.Account == "" && d.Cluster == "" && c.DetailType == asked {
		return Whose{All: true}, nil
	}
	return Whose{Spoke: spoke.ID{Account: d.Account, Region: d.Region}.Of(hub)}, nil
}

// contradicted tells that an event says otherwise than its envelope. An ARN may lack an
// account or a region, and have a zone in the region's place (EC2's Spot notices), whose
// name begins with the region's.
func contradicted(c claims, of spoke.ID) error {
	forged := func(says string) error { return &Forged{Type: c.DetailType, Envelope: of, Says: says} }
	for _, arn := range c.Resources {
		part := strings.SplitN(arn, ":", 6)
		if len(part) < 5 || part[0] != "arn" {
			continue
		}
		// A region's events of AWS Health also go to another one, as a backup.
		elsewhere := part[3] != "" && !strings.HasPrefix(part[3], of.Region) && c.Source != "aws.health"
		if elsewhere || len(part) == 6 && part[4] != "" && part[4] != of.Account {
			return forged(arn)
		}
	}
	var d said
	if len(c.Detail) == 0 || json.Unmarshal(c.Detail, &d) != nil {
		return nil // a detail of another form says nothing of it; Parse judges the form
	}
	for _, account := range []string{d.Recipient, d.Affected} {
		if account != "" && account != of.Account {
			return forged("account " + account)
		}
	}
	if d.AWSRegion != "" && d.AWSRegion != of.Region {
		return forged("region " + d.AWSRegion)
	}
	return nil
}
