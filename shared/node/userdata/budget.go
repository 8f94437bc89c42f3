package userdata

import "fmt"

// Limit is something of which the reading of one document takes only so much.
type Limit string

// The limits. They hold for the whole of a document, with all that is packed
// in it, and they count: a clock would give another answer on a busy machine.
const (
	Unpacked Limit = "bytes unpacked"
	Parts    Limit = "parts"
	Work     Limit = "bytes looked at"
)

// EC2 takes 16 KB of user data (EC2 user guide, "Run commands when you launch
// an EC2 instance with user data input"). What people write unpacks to some
// 100 KB and has a handful of parts: each limit is several times that, and all
// of it together takes some tenths of a second on a busy machine.
const (
	maxUnpacked = 512 << 10
	maxParts    = 100
	maxWork     = 4 << 20
)

// OverBudget is the error of a document that was not read because it takes
// more than any that is meant to be read. What is in it is not known.
type OverBudget struct {
	Of   Limit
	Most int
}

func (e *OverBudget) Error() string {
	return fmt.Sprintf("the user data is over budget: reading it takes more than %d %s", e.Most, e.Of)
}

// budget is what is left for a document. Once it is over it stays over, and
// what reads the document ends without a result.
type budget struct {
	unpacked, parts, work int
	over                  *OverBudget
}

func newBudget() *budget { return &budget{unpacked: maxUnpacked, parts: maxParts, work: maxWork} }

// spend takes n of a limit, and tells whether there was as much.
func (b *budget) spend(of Limit, n int) bool {
	left, most := &b.work, maxWork
	switch of {
	case Unpacked:
		left, most = &b.unpacked, maxUnpacked
	case Parts:
		left, most = &b.parts, maxParts
	}
	if *left -= n; *left < 0 && b.over == nil {
		b.over = &OverBudget{Of: of, Most: most}
	}
	return b.over == nil
}
