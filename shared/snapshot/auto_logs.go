package snapshot

import (
	"time"

	"rollcall/shared/checkid"
)

// AutoModeLogs is what the managed components of EKS Auto Mode logged about the nodes
// that are looked at, as far as the account has their logs delivered to where
// Rollcall may read.
type AutoModeLogs struct {
	// Names are what the logs were searched for: NodeClaims and instances.
	Names []string
	// Deliveries are all of the cluster; none where nobody has its logs delivered.
	Deliveries []LogDelivery
	// Records are those of warnings and errors, oldest first.
	Records []LogRecord
	// Cut tells that there was more than is read.
	Cut bool
}

// LogDelivery is where logs of a component go.
type LogDelivery struct {
	Type string // AUTO_MODE_COMPUTE_LOGS
	// Destination is the ARN of a log group, a bucket or a stream; of a destination in
	// another account it is its own.
	Destination string
	// Group is the name of the log group; empty where they go elsewhere.
	Group string
	// Unnamed tells that the setting autoModeLogs does not name the group, Gone that
	// there is none of its name: it is not read.
	Unnamed, Gone bool
	// Failure is why it could not be read.
	Failure *Failure
}

// LogRecord is a record that names a NodeClaim or an instance.
type LogRecord struct {
	At   time.Time
	Type string // of the delivery
	// Level is ERROR or WARN.
	Level string
	// Text is what was logged, with the error, and without what is encoded in it.
	Text string
	// Cause is the check that looks for what the text tells; empty where it tells no
	// cause, or only how something shows.
	Cause checkid.ID
	// Names are those of AutoModeLogs.Names that stand in it.
	Names []string
}
