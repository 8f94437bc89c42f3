package joincheck

import (
	"slices"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/shared/incident"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// strangers are instances that no tag names: the user data of the first names
// the cluster, that of the second another one, the third has none.
const unnamedWorld = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa2, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.22, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa3, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.23, LaunchTime: 2026-11-20T14:57:50Z}
  UserData:
    # /etc/eks/bootstrap.sh eks-workshop
    i-0aaaaaaaaaaaaaaa1: IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIGVrcy13b3Jrc2hvcAo=
    # /etc/eks/bootstrap.sh sandbox
    i-0aaaaaaaaaaaaaaa2: IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIHNhbmRib3gK
`

// TestUnnamed: an instance that only its user data calls a node of the cluster
// is called too; nobody else's is.
func TestUnnamed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: unnamedWorld})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	var missed []string
	for _, l := range o.Launches {
		if l.Status == outcome.Missed {
			missed = append(missed, l.Instance)
		}
	}
	if want := []string{"i-0aaaaaaaaaaaaaaa1"}; !slices.Equal(missed, want) {
		t.Errorf("missed roll call: %q, want %q", missed, want)
	}
}

// TestUnnamedBlind: whose instances without tags are could not be asked, and
// that is told.
func TestUnnamedBlind(t *testing.T) {
	b := bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: unnamedWorld, Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstanceAttribute", Deny: true}}})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool {
		return f.Call == "ec2:DescribeInstanceAttribute" && f.Reason == snapshot.Denied
	}) {
		t.Errorf("blind %+v, want ec2:DescribeInstanceAttribute", o.Blind)
	}
	strangers := []string{"i-0aaaaaaaaaaaaaaa1", "i-0aaaaaaaaaaaaaaa2", "i-0aaaaaaaaaaaaaaa3"}
	if !slices.ContainsFunc(o.Diagnosis.Unknown, func(u diagnose.Unknown) bool {
		return u.Check == "node/not-registered" && slices.Equal(u.Covers, strangers)
	}) {
		t.Errorf("unknown %+v, want whether %q are nodes", o.Diagnosis.Unknown, strangers)
	}
}

// TestOpenIncidentsOfInstances: what an open incident is about is looked at
// until it passes, or is gone.
func TestOpenIncidentsOfInstances(t *testing.T) {
	b := bench(t, healthy)
	incident := incident.Incident{
		Format: report.Format, State: incident.Open,
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "instance/user-data", Resource: "lt-0e200000000000001"},
		Covers: []string{"i-0d0000000000000a1", "i-0ffffffffffffffff"},
	}
	if _, err := b.Store.SaveIncident(t.Context(), incident); err != nil {
		t.Fatal(err)
	}
	o := sweep(t, b)
	if want := []string{"i-0ffffffffffffffff"}; !slices.Equal(o.Absent, want) {
		t.Errorf("absent %q, want %q", o.Absent, want)
	}
}

// TestEvidenceOutlivesTheInstance: EC2 forgets where an instance was and what
// it was started with once it is terminated; what keeps it from joining is
// still told of it, from what was recorded while it lived.
func TestEvidenceOutlivesTheInstance(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(2 * time.Minute)
	sweep(t, b)
	record, ok := b.Launch(id)
	if !ok || record.Machine == nil || record.Machine.VPC == "" || len(record.Machine.Groups) == 0 || record.Machine.Template == "" {
		t.Fatalf("record %+v (%v), want what the instance was started with", record, ok)
	}
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(3 * time.Minute)
	o := sweep(t, b)
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Check == "route/no-egress" })
	if i < 0 || !slices.Contains(o.Diagnosis.Causes[i].Instances, id) {
		t.Errorf("causes %+v, want route/no-egress of the instance that is gone", o.Diagnosis.Causes)
	}
}
