// Package inbox is what wakes a function: batches of messages, their owner, and the
// messages by which Rollcall reminds itself. Package event reads what they say, of which
// those that only send, or pass on, need nothing.
package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/spoke"
)

// Malformed is an event that cannot be read. It is returned, so that the
// message ends in the dead-letter queue, where a person can look at it.
type Malformed struct {
	What string // what was being read
	Err  error
}

func (m *Malformed) Error() string {
	return fmt.Sprintf("malformed event: %s: %v", m.What, m.Err)
}

func (m *Malformed) Unwrap() error { return m.Err }

// Envelope is the common form of all EventBridge events. Scheduler sends
// detail as a string holding JSON, so detail stays raw.
type Envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// The form of an SQS invocation, as far as it is read. The types of
// aws-lambda-go would bring net/http into a package that only decodes.
type sqsEvent struct {
	Records []struct {
		MessageID   string            `json:"messageId"`
		Handle      string            `json:"receiptHandle"`
		Body        string            `json:"body"`
		EventSource string            `json:"eventSource"`
		Attributes  map[string]string `json:"attributes"`
	}
}

// Message is one message of a queue.
type Message struct {
	ID       string
	Body     string
	Received int    // how often it was handed out, this time included
	Group    string // of a FIFO queue
	// Handle is by what SQS knows this handing out of it.
	Handle string
}

// Batch is the messages of an SQS invocation; ok is false when the
// invocation is not one.
func Batch(raw []byte) (messages []Message, ok bool) {
	var b sqsEvent
	if err := json.Unmarshal(raw, &b); err != nil || len(b.Records) == 0 || b.Records[0].EventSource != "aws:sqs" {
		return nil, false
	}
	for _, r := range b.Records {
		n := 1
		if json.Unmarshal([]byte(r.Attributes["ApproximateReceiveCount"]), &n) != nil {
			n = 1
		}
		messages = append(messages, Message{ID: r.MessageID, Body: r.Body, Received: n, Group: r.Attributes["MessageGroupId"], Handle: r.Handle})
	}
	return messages, true
}

// Answer lists for Lambda the messages of a batch to return to their queue.
type Answer struct {
	Failures []Failed `json:"batchItemFailures"`
}

// Failed is one message to give back.
type Failed struct {
	ID string `json:"itemIdentifier"`
}

// Failures is the answer that gives the named messages back, and no others.
func Failures(ids []string) Answer {
	a := Answer{Failures: make([]Failed, 0, len(ids))} // never nil: it would be written as null
	// A message may have failed for several of its instances.
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		a.Failures = append(a.Failures, Failed{id})
	}
	return a
}

// Source separates our own messages from AWS's.
const Source = "rollcall"

// The detail-types of what Rollcall asks of itself, or a person of it.
const (
	TypeLookAgain       = "Rollcall Look Again"
	TypeLookForChanges  = "Rollcall Look For Changes"
	TypeLookAtNodegroup = "Rollcall Look At Nodegroup"
	TypeClusterSweep    = "Rollcall Cluster Sweep"
	TypeAsked           = "Rollcall Spot Report Wanted"
)

// LookDetail is the detail of LookAgain.
type LookDetail struct {
	spoke.ID
	Instances []string `json:"instances"`
}

// LookAgain is the message by which Rollcall reminds itself of instances of a spoke.
func LookAgain(of spoke.ID, instances []string, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(LookDetail{of, instances})
	if err != nil {
		return nil, err
	}
	return json.Marshal(Envelope{Version: "0", ID: "look/" + now.UTC().Format(time.RFC3339Nano), DetailType: TypeLookAgain, Source: Source, Time: now.UTC(), Detail: detail})
}

// ChangesDetail is the detail of LookForChanges.
type ChangesDetail struct {
	spoke.ID
	Cluster  string    `json:"cluster"`
	Check    string    `json:"check"`
	Resource string    `json:"resource"`
	Opened   time.Time `json:"opened"`
	Round    int       `json:"round"`
}

// LookForChanges is the message by which Rollcall reminds itself to look again
// for what was changed before an incident: CloudTrail is late.
func LookForChanges(of spoke.ID, cluster, check, resource string, opened time.Time, round int, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(ChangesDetail{of, cluster, check, resource, opened.UTC(), round})
	if err != nil {
		return nil, err
	}
	return json.Marshal(Envelope{
		Version: "0", ID: "look/" + cluster + "/" + check + "/" + resource + "/" + strconv.Itoa(round) + "/" + now.UTC().Format(time.RFC3339Nano),
		DetailType: TypeLookForChanges, Source: Source, Time: now.UTC(), Detail: detail,
	})
}

// NodegroupDetail is the detail of LookAtNodegroup.
type NodegroupDetail struct {
	spoke.ID
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup"`
}

// LookAtNodegroup is the message by which Rollcall reminds itself of a
// nodegroup that is on its way to another status.
func LookAtNodegroup(of spoke.ID, cluster, nodegroup string, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(NodegroupDetail{of, cluster, nodegroup})
	if err != nil {
		return nil, err
	}
	return json.Marshal(Envelope{
		Version: "0", ID: "look/" + cluster + "/" + nodegroup + "/" + now.UTC().Format(time.RFC3339Nano),
		DetailType: TypeLookAtNodegroup, Source: Source, Time: now.UTC(), Detail: detail,
	})
}

// ClusterDetail is the detail of SweepCluster.
type ClusterDetail struct {
	spoke.ID
	Cluster string `json:"cluster"`
}

// SweepCluster is the message by which a tick asks for a look at all of one cluster of a
// spoke. Its time is when that is due; the account and the region are those of the hub's
// own clusters, of which a spoke's message names the spoke alone.
func SweepCluster(of spoke.ID, cluster, account, region string, due time.Time) ([]byte, error) {
	detail, err := json.Marshal(ClusterDetail{of, cluster})
	if err != nil {
		return nil, err
	}
	if !of.Hub() {
		account, region = "", ""
	}
	return json.Marshal(Envelope{
		Version: "0", ID: "sweep/" + of.Qualify(cluster) + "/" + due.UTC().Format(time.RFC3339Nano),
		DetailType: TypeClusterSweep, Source: Source, Account: account, Region: region, Time: due.UTC(), Detail: detail,
	})
}

// Origin is whom a message is about.
type Origin struct {
	// Spoke is the zero ID for the hub's own.
	Spoke spoke.ID
	// All is set where it is of every spoke: a schedule, or a request that names none.
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

// claims is what messages say of their owner.
type claims struct {
	Envelope
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

// OriginOf returns the owner of a message of a queue or of an event, as the hub sees it.
//
// An event of AWS is of the account and the region that its envelope names. No user can
// write those: only AWS may use a source that begins with "aws.", EventBridge sets the
// account, and an event that a rule forwards to the bus of another account or region
// keeps those of its origin. (EventBridge user guide, "AWS service event metadata":
// source, account, region "where the event originated"; API reference, PutPermission,
// Principal: "Rules with an account field do not match any events sent from other
// accounts".) What the event says beside that of another account or region is forged.
//
// Our own messages and events come from the hub's own account, and say whose they are;
// those of releases before there were spokes do not, and are the hub's.
func OriginOf(body []byte, hub spoke.ID) (Origin, error) {
	var c claims
	if err := json.Unmarshal(body, &c); err != nil {
		return Origin{}, &Malformed{What: "whose it is", Err: err}
	}
	of := spoke.ID{Account: c.Account, Region: c.Region}
	switch {
	case c.Source == "": // on the results queue
		if of.Account == "" {
			of = c.Key.Spoke
		}
		return Origin{Spoke: of.RelativeTo(hub)}, nil
	case c.Source == Source:
		return ownSays(c, of, hub)
	case of.Account == "" || of.Region == "":
		return Origin{}, &Malformed{What: "whose it is", Err: errors.New("the envelope names no account or no region")}
	case c.Source == "aws.events", c.Source == "aws.scheduler":
		if of != hub {
			return Origin{}, &Forged{Type: c.DetailType, Envelope: of, Says: "the hub, whose schedules alone count"}
		}
		return Origin{All: true}, nil
	}
	return Origin{Spoke: of.RelativeTo(hub)}, contradicted(c, of)
}

// ownSays returns the owner that a message or an event of ours names.
func ownSays(c claims, from, hub spoke.ID) (Origin, error) {
	if from.Account != "" && from != hub {
		return Origin{}, &Forged{Type: c.DetailType, Envelope: from, Says: "the hub, which alone sends such"}
	}
	var d said
	if err := json.Unmarshal(c.Detail, &d); err != nil {
		return Origin{}, &Malformed{What: c.DetailType, Err: err}
	}
	if d.Account == "" && d.Cluster == "" && c.DetailType == TypeAsked {
		return Origin{All: true}, nil
	}
	return Origin{Spoke: spoke.ID{Account: d.Account, Region: d.Region}.RelativeTo(hub)}, nil
}

// contradicted is an error where an event says otherwise than its envelope. An ARN may lack an
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
		return nil // a detail of another form says nothing of it; package event judges the form
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
