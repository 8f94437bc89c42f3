package instance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// rollout is a week in which launches with ami-0old joined, and an afternoon in
// which those with ami-0new did not, a quarter of an hour apart; of ours, the last,
// the time to join is over.
func rollout(changes ...func(*snapshot.Past)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		add := func(id, ami string, ago time.Duration, end snapshot.End) {
			p := snapshot.Past{ID: id, Nodegroup: "workers", Type: "m5.large", AMI: ami, Architecture: "x86_64", Zone: snapshottest.Zone, Subnet: snapshottest.Private, Started: s.Time.Add(-ago), End: end}
			if end == snapshot.Open {
				p.Missed = p.Started.Add(5 * time.Minute)
			}
			for _, f := range changes {
				f(&p)
			}
			s.Week = append(s.Week, p)
		}
		for n := range 80 {
			add(fmt.Sprintf("i-old%02d", n), "ami-0old", 8*time.Hour+time.Duration(n)*time.Hour, snapshot.Joined)
		}
		for n := range 24 {
			add(fmt.Sprintf("i-new%02d", n), "ami-0new", 7*time.Hour-time.Duration(n)*16*time.Minute, snapshot.Open)
		}
		snapshottest.Instance(s, snapshottest.Node).AMI = "ami-0new"
	}
}

func explained(p *snapshot.Past) {
	if p.End == snapshot.Open {
		p.Cause = checkid.RouteNoEgress
	}
}

func TestCommonFactor(t *testing.T) {
	checktest.RunCases(t, CommonFactor(), []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"one that failed has nothing to be compared with", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"a bad AMI", checktest.Change(checktest.Missed(), rollout()), []string{"fail ami-0new [i-0node] [i-0node] 25 of 25 with ami-0new failed, 80 of 80 others joined"}},
		{"others failed for it, and this one has another", checktest.Change(checktest.Missed(), rollout(), func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).AMI = "ami-0old" }),
			[]string{"pass prod [i-0node]"}},
		{"a cause was found for those", checktest.Change(checktest.Missed(), rollout(explained)), []string{"pass prod [i-0node]"}},
		{"and it joined", checktest.Change(snapshottest.PrivateWithNAT(), rollout()), []string{"pass prod [i-0node]"}},
		{"its time is not over", checktest.Change(checktest.Missed(), rollout(), func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }), []string{"pass prod [i-0node]"}},
		{"history unread", checktest.Change(checktest.Missed(), rollout(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [i-0node] launch history: denied"}},
		{"history unread, and nothing failed", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"pass prod [i-0node]"}},
		{"nodes unread", checktest.Change(checktest.Missed(), rollout(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	})
}

func TestCommonFactorWords(t *testing.T) {
	f := checktest.Failed(t, CommonFactor(), checktest.Change(checktest.Missed(), rollout(func(p *snapshot.Past) {
		p.Template = snapshot.TemplateRef{ID: "lt-0e2", Version: map[string]string{"ami-0old": "6", "ami-0new": "7"}[p.AMI]}
	}), func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.Template = snapshot.TemplateRef{ID: "lt-0e2", Version: "7"}
	}))
	if want := "25 of 25 launches with ami-0new failed, the first launched 2026-11-20 08:00 UTC; 80 of 80 others of the last 7 days joined. The very same launches are those with lt-0e2 version 7: nothing here tells these apart."; f.Why != want {
		t.Errorf("Why = %q, want %q", f.Why, want)
	}
	if want := "Compare ami-0new with ami-0old, with which launches join"; !strings.HasPrefix(f.Fix.Text, want) {
		t.Errorf("Fix = %q, want it to begin with %q", f.Fix.Text, want)
	}
	if want := "aws ec2 describe-images --region us-west-2 --image-ids ami-0new ami-0old"; f.Fix.Command != want {
		t.Errorf("Command = %q, want %q", f.Fix.Command, want)
	}
	if got := checktest.Value(t, f, "launch template version"); got != "lt-0e2 version 7" {
		t.Errorf("the version that goes with it = %q", got)
	}
}
