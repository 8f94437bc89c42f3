package leak

// Mode is what an operator lets be done with the interfaces of a cluster.
type Mode string

// The modes. Whatever else is written there is taken for Report.
const (
	Report Mode = "report"
	DryRun Mode = "dry-run"
	Delete Mode = "delete"
)

// acts tells that EC2 is asked for something.
func (m Mode) acts() bool { return m == DryRun || m == Delete }

// Least is the most careful of modes: Report where there is none.
func Least(modes ...Mode) Mode {
	least := Report
	for i, m := range modes {
		switch {
		case !m.acts():
			return Report
		case i == 0 || m == DryRun:
			least = m
		}
	}
	return least
}
