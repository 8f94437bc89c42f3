package bill

import (
	"math"
	"testing"
)

func TestEvidence(t *testing.T) {
	lines := Evidence(Incidents{Opened: 10, Hours: 5, Days: 60, Bytes: 2e6})
	// 50 objects, each looked at twelve times; 0.1 GB, for two months.
	if lines[0].Count != 600 || lines[1].Count != 0.2 {
		t.Errorf("counts %+v", lines)
	}
	if got, want := Total(lines), 600*5e-6+0.2*0.023; math.Abs(got-want) > 1e-9 {
		t.Errorf("$%g, want $%g", got, want)
	}
}
