package address

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"rollcall/shared/snapshot"
)

// limit is a line of the independent table: a type, and the most pods that the
// plugin's own table gives it.
type limit struct {
	of   snapshot.InstanceType
	pods int
}

func limits(t *testing.T) []limit {
	t.Helper()
	f, err := os.Open("testdata/limits.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []limit
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.Fields(lines.Text())
		if len(line) != 6 || line[0] == "#" {
			continue
		}
		row := limit{of: snapshot.InstanceType{
			Name: line[0], Interfaces: number(line[1]), IPv4PerInterface: number(line[2]), Hypervisor: line[3], BareMetal: line[4] == "true",
		}, pods: number(line[5])}
		if row.of.Hypervisor == "unknown" {
			row.of.Hypervisor = "" // as EC2 says of bare metal
		}
		list = append(list, row)
	}
	if len(list) < 60 {
		t.Fatalf("%d types in the table, want 60 at least", len(list))
	}
	return list
}

// A node that is full has as many pods as the plugin's own table says, and
// holds all addresses of all its interfaces.
func TestFullAgreesWithThePluginsTable(t *testing.T) {
	for _, row := range limits(t) {
		if got := Defaults().Pods(row.of); got != row.pods {
			t.Errorf("%s: %d pods, the table says %d", row.of.Name, got, row.pods)
		}
		full := Defaults().Full(row.of)
		if got := full.Total() - row.of.Interfaces + hostPods; got != row.pods || full.First != row.of.IPv4PerInterface {
			t.Errorf("%s: full it takes %+v, which is %d pods; the table says %d", row.of.Name, full, got, row.pods)
		}
	}
}
