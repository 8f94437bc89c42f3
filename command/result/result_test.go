package result

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/command/exit"
	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// What is asked for alone is printed, with what was not checked and may be about it.
func TestOnly(t *testing.T) {
	r := Result{
		Incidents: []Incident{
			{Cause: "a", Instances: []string{"i-1"}, Nodegroups: []string{"workers"}}, {Cause: "b", Resources: []string{"i-2"}, Nodegroups: []string{"spot"}},
			{Cause: "c", Resources: []string{"nodepool/gpu"}}, {Cause: "d", Confidence: "advice"},
		},
		Unknown: []Unknown{{Check: "u1", Resource: "i-1"}, {Check: "u2", Resource: "i-2 i-3"}, {Check: "u3", Resource: "prod"}, {Check: "u4", Resource: "i-1 i-2 subnet-1"}, {Check: "u5"}, {Check: "u6", Resource: "i-9"}},
	}
	seen := []report.Observation{{Launches: []report.Launch{
		{Instance: "i-1", Nodegroup: "workers", Group: "eks-workers"}, {Instance: "i-2", Nodegroup: "spot"}, {Instance: "i-3", Nodegroup: "spot"},
	}}}
	for name, tt := range map[string]struct{ instance, nodegroup, causes, unknown string }{
		"all":                  {"", "", "abcd", "u1 u2 u3 u4 u5 u6 "},
		"an instance":          {"i-1", "", "a", "u1 u3 u4 u5 "},
		"one among resources":  {"i-2", "", "b", "u2 u3 u4 u5 "},
		"a nodegroup":          {"", "spot", "b", "u2 u3 u4 u5 u6 "},
		"a NodePool":           {"", "gpu", "c", "u3 u4 u5 u6 "},
		"a group":              {"", "eks-workers", "", "u1 u3 u4 u5 u6 "},
		"both, not each other": {"i-1", "spot", "", "u3 u4 u5 "},
	} {
		t.Run(name, func(t *testing.T) {
			c := r
			c.Incidents, c.Unknown = append([]Incident{}, r.Incidents...), append([]Unknown{}, r.Unknown...)
			got := c.Only(tt.instance, tt.nodegroup, seen)
			if want := got.Status() == exit.Healthy; got.Healthy != want {
				t.Errorf("healthy %v, want %v", got.Healthy, want)
			}
			causes, unknown := "", ""
			for _, i := range got.Incidents {
				causes += i.Cause
			}
			for _, u := range got.Unknown {
				unknown += u.Check + " "
			}
			expect.Same(t, "got", []string{causes, unknown}, []string{tt.causes, tt.unknown})
		})
	}
}

// crowd is what may come of a cluster of 3,000 instances: one cause of all of them, as
// many causes of one kind, and as many things that could not be read.
func crowd() Result {
	r := Result{}
	big := Incident{Cause: "route/no-egress", Confidence: "certain", Cluster: "prod", Title: "rtb-1 has no route to the internet", Fix: Fix{Text: "add a route"}}
	for n := range 3000 {
		id := fmt.Sprintf("i-%04d", n)
		big.Instances, big.Resources, big.Nodegroups = append(big.Instances, id), append(big.Resources, "subnet-"+id), append(big.Nodegroups, "group-"+id)
		big.Evidence = append(big.Evidence, Evidence{What: "End of " + id, Value: "seen"})
		r.Unknown = append(r.Unknown, Unknown{Check: "instance/console-error", Resource: id, Reason: "not read (" + id + " has written nothing to its console yet)"})
	}
	r.Incidents = []Incident{big}
	for n := range 40 {
		for _, cause := range []string{"instance/user-data", "iam/access-missing"} {
			id := fmt.Sprintf("i-%04d", n)
			r.Incidents = append(r.Incidents, Incident{Cause: cause, Confidence: "likely", Cluster: "prod", Title: id + " is odd", Instances: []string{id}, Resource: id})
		}
	}
	r.Incidents = append(r.Incidents, Incident{Cause: "route/cross-zone-nat", Confidence: "advice", Cluster: "prod", Title: "two subnets go out by one gateway"})
	return r
}

// 3,000 instances are one page, which counts what it leaves out; --all lists each.
func TestOnePage(t *testing.T) {
	page := crowd().Words("prod", Style{})
	if lines := strings.Count(page, "\n"); lines > 60 || len(page) > 6000 {
		t.Errorf("%d lines, %d bytes, want one page:\n%s", lines, len(page), page)
	}
	for _, want := range []string{
		"FAULT prod / group-i-0000, group-i-0001, ", "  Nodes     i-0000, i-0001, i-0002 and 2997 more\n", "  Where     subnet-i-0000, ",
		"            … 2990 more; --all lists all\n",
		"\nFAULT prod · i-0000 is odd\n  Cause     instance/user-data (likely)\n  Nodes     i-0000\n  Same for  39 more: i-0001, i-0002, i-0003 and 36 more; --all lists each\n",
		"\n  Cause     iam/access-missing (likely)\n", "\nAdvice: route/cross-zone-nat; --advice prints it\n",
		"\nNot checked\n  not read (it has written nothing to its console yet): instance/console-error not run for 3000: i-0000, i-0001, i-0002 and 2997 more\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	all := crowd().Words("prod", Style{All: true})
	for _, want := range []string{", i-2999\n", "End of i-2999: seen", "FAULT prod · i-0039 is odd", "  instance/console-error  i-2999: not read (i-2999 has written"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among all", want)
		}
	}
	if strings.Contains(all, "more") {
		t.Errorf("%d lines of all leave something out", strings.Count(all, "\n"))
	}
}

// Many different reasons are counted, too.
func TestUnknownOnOnePage(t *testing.T) {
	r := Result{}
	for n := range 20 {
		r.Unknown = append(r.Unknown, Unknown{Check: "dns/firewall", Resource: "prod", Reason: fmt.Sprintf("reason-%02d", n)})
	}
	page := r.Words("prod", Style{})
	if !strings.Contains(page, "  reason-14: dns/firewall not run for prod\n  … 5 more; --all lists all\n") || strings.Contains(page, "reason-15") {
		t.Errorf("want fifteen, and how many more:\n%s", page)
	}
}

// denied is a call that was refused to a role.
func denied(call, code, role string) snapshot.Failure {
	return snapshot.Failure{Reason: snapshot.Denied, Call: call, Code: code, Message: role + " is not authorized"}
}

// Equal denials are one line, whoever was denied and for whatever resource, with what to
// grant; what no policy grants is not among it.
func TestDenials(t *testing.T) {
	r := Result{}
	for n := range 27 {
		r.Unknown = append(r.Unknown, NotRun(checkid.ID(fmt.Sprintf("route/%02d", n)), "prod", denied("ec2:DescribeRouteTables", "UnauthorizedOperation", fmt.Sprintf("role-%d", n%2))))
	}
	for n := range 200 {
		r.Unknown = append(r.Unknown, NotRun("instance/user-data", fmt.Sprintf("i-%03d", n), denied("ec2:DescribeInstanceAttribute", "UnauthorizedOperation", "role-0")))
	}
	r.Unknown = append(r.Unknown,
		NotRun("node/not-ready", "prod", denied("kubernetes: list nodes", "Forbidden", "role-0")),
		NotRun("iam/role", "prod", denied("iam:GetRole", "ExpiredToken", "role-0")))
	want := `prod: cause unknown: some checks did not run.

Not checked
  ec2:DescribeRouteTables denied: 27 checks not run for prod (route/00, route/01, route/02 and 24 more)
  ec2:DescribeInstanceAttribute denied: instance/user-data not run for 200: i-000, i-001, i-002 and 197 more
  kubernetes: list nodes denied: node/not-ready not run for prod
  iam:GetRole: denied (ExpiredToken: role-0 is not authorized): iam/role not run for prod
  Response: ec2:DescribeRouteTables: denied (UnauthorizedOperation: role-0 is not authorized)
  Policy statement to add: {"Effect": "Allow", "Action": ["ec2:DescribeRouteTables", "ec2:DescribeInstanceAttribute"], "Resource": "*"}
  ClusterRole rules to add: list nodes (deploy/clusterrole.yaml has all of them)
`
	expect.Equal(t, "page", r.Words("prod", Style{}), want)
	if all := r.Words("prod", Style{All: true}); strings.Count(all, "\n  instance/user-data  i-") != 200 || !strings.Contains(all, "Policy statement to add: ") {
		t.Errorf("--all does not list each:\n%s", all)
	}
	p := r.Page("prod")
	expect.Same(t, "rows and statements of the HTML page", []int{len(p.NotRun), len(p.Grants)}, []int{4, 2})
}

// Advice is a line unless it was asked for; two findings of one kind have a command each.
func TestAdvice(t *testing.T) {
	r := Result{Incidents: []Incident{
		{Cause: "route/no-egress", Cluster: "prod", Title: "rtb-1 has no route", Resource: "rtb-1"}, {Cause: "route/no-egress", Cluster: "prod", Title: "rtb-2 has no route", Resource: "rtb-2"},
		{Cause: "route/cross-zone-nat", Confidence: "advice", Cluster: "prod", Title: "one gateway"},
	}}
	for name, tt := range map[string]struct {
		style Style
		shown bool
	}{"default": {Style{}, false}, "--advice": {Style{Advice: true}, true}, "--all": {Style{All: true}, true}} {
		page := r.Words("prod", tt.style)
		if strings.Contains(page, "ADVICE prod · one gateway\n") != tt.shown || strings.Contains(page, "Advice: route/cross-zone-nat; --advice prints it") == tt.shown {
			t.Errorf("%s: advice shown is not %v:\n%s", name, tt.shown, page)
		}
		if !strings.Contains(page, "FAULT prod · rtb-1 has no route\n") || !strings.Contains(page, "FAULT prod · rtb-2 has no route\n") {
			t.Errorf("%s: want both tables:\n%s", name, page)
		}
	}
}

// What anybody may write into a name moves no cursor, and colors nothing.
func TestTextsOfTheAccountArePlain(t *testing.T) {
	r := Result{Incidents: []Incident{{Cause: "c", Cluster: "prod", Title: "a\x1b[2J\rb", Why: "x\x1b]0;t\x07y", Evidence: []Evidence{{"w", "one\ntwo\x1b[31m"}}}}}
	if page := r.Words("prod", Style{}); strings.ContainsAny(page, "\x1b\r\x07") || !strings.Contains(page, "a�[2J�b") || !strings.Contains(page, "w: one\n            two�[31m\n") {
		t.Errorf("%q", page)
	}
}

func TestColors(t *testing.T) {
	r := Result{Incidents: []Incident{{Cause: "c", Confidence: "certain", Cluster: "prod", Title: "t"}, {Confidence: "symptom"}, {Confidence: "advice"}}}
	page := r.Words("prod", Style{Color: true, Advice: true})
	for _, want := range []string{"\x1b[1;31mFAULT\x1b[0m prod", "\x1b[33mSYMPTOM\x1b[0m", "\x1b[36mADVICE\x1b[0m"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %q", want, page)
		}
	}
	if page := (Result{}).Words("prod", Style{Color: true}); page != "prod: \x1b[32mOK: all instances have joined, or are still within their join time\x1b[0m.\n" {
		t.Errorf("%q", page)
	}
}
