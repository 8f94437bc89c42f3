package outcome

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func joins(seconds ...int) []Join {
	var list []Join
	for i, s := range seconds {
		list = append(list, Join{Instance: fmt.Sprintf("i-%04d", i), At: after(time.Duration(i) * time.Minute), Seconds: s})
	}
	return list
}

func repeat(n, seconds int) []int { return slices.Repeat([]int{seconds}, n) }

func TestAllow(t *testing.T) {
	const setting = 5 * time.Minute
	tests := []struct {
		name    string
		seconds []int
		want    Allowance
	}{
		{"nothing", nil, Allowance{For: setting}},
		{"too few", repeat(19, 60), Allowance{For: setting}},
		{"fast", repeat(20, 20), Allowance{For: time.Minute, Usual: 20 * time.Second, Samples: 20}},
		{"half a minute more at least", repeat(20, 50), Allowance{For: 80 * time.Second, Usual: 50 * time.Second, Samples: 20}},
		{"half of it again", repeat(50, 80), Allowance{For: 2 * time.Minute, Usual: 80 * time.Second, Samples: 50}},
		{"slow", repeat(20, 480), Allowance{For: 12 * time.Minute, Usual: 8 * time.Minute, Samples: 20}},
		{"too slow", repeat(20, 1200), Allowance{For: 15 * time.Minute, Usual: 20 * time.Minute, Samples: 20}},
		{"few that are late do not count", append(repeat(190, 60), repeat(10, 3000)...), Allowance{For: 90 * time.Second, Usual: time.Minute, Samples: 200}},
		{"one more does", append(repeat(189, 60), repeat(11, 600)...), Allowance{For: 15 * time.Minute, Usual: 10 * time.Minute, Samples: 200}},
	}
	for _, test := range tests {
		j := Joins(nil).With(joins(test.seconds...), after(0))
		if got := j.Allow(setting, after(0)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	old := Joins(joins(repeat(40, 60)...))
	if got := old.Allow(setting, after(31*24*time.Hour)); got.Samples != 0 || got.For != setting {
		t.Errorf("a month later: %+v, want the setting", got)
	}
}

func TestJoinsWith(t *testing.T) {
	list := joins(repeat(230, 60)...)
	now := after(4 * time.Hour)
	all := Joins(nil).With(list, now)
	if len(all) != 200 || all[0].Instance != "i-0030" {
		t.Fatalf("%d joins from %s, want the last 200", len(all), all[0].Instance)
	}
	if again := all.With(all, now); !slices.Equal(again, all) {
		t.Error("the same joins again change something")
	}
	a, b := list[:100], list[50:150]
	if !slices.Equal(Joins(nil).With(a, now).With(b, now), Joins(nil).With(b, now).With(a, now)) {
		t.Error("the order matters")
	}
	if got := all.With(nil, after(31*24*time.Hour)); len(got) != 0 {
		t.Errorf("%d joins of a month ago are kept", len(got))
	}
}

func TestTeaches(t *testing.T) {
	ready := Facts{Started: launched, Ready: after(20 * time.Minute)}
	sure := Merge(ready, Facts{Missed: due, Root: Root{Check: "route/no-egress", Sure: true}})
	unsure := Merge(ready, Facts{Missed: due, Root: Root{Check: "iam/role-policies"}})
	if !ready.Teaches() || sure.Teaches() || !unsure.Teaches() || (Facts{Started: launched}).Teaches() {
		t.Error("what teaches is not what joined by itself")
	}
}
