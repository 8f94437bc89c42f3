package correlate_test

import (
	"fmt"
	"slices"
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// podSubnet is the subnet of pods with custom networking; their nodes stand in subnet.
const podSubnet = "subnet-0pods"

var (
	theBlocks    = report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPFragmented, Resource: incidenttest.Subnet}
	thePodBlocks = report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPFragmented, Resource: podSubnet}
)

// noBlock is what subnet-watch finds of a subnet without a free /28: it sees no
// instances.
func noBlock(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return incidenttest.Fails(checkid.IPFragmented, checks.Certain, incidenttest.Subnet+" has no free /28 for a prefix", append([]func(*diagnose.Cause){func(c *diagnose.Cause) {
		c.Nodegroups, c.Resources = nil, []string{incidenttest.Subnet, "vpc-1"}
	}}, more...)...)
}

// ofPods makes it the pods' own subnet, with the subnet of the nodes beside it.
func ofPods(c *diagnose.Cause) {
	c.Resource, c.Covers, c.Resources = podSubnet, []string{podSubnet}, []string{podSubnet, incidenttest.Subnet, "vpc-1"}
}

// behind names what alone explains the last cause away: of the image, say.
func behind(ids ...checks.ID) func(*report.Observation) {
	return func(o *report.Observation) { o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Behind = ids }
}

func doubtful(c *diagnose.Cause) { c.Confidence = checks.Possible }

// One message names the subnet without a free block, whoever looks first:
// subnet-watch counts its blocks, join-check sees that aws-node does not come up.
func TestNoFreeBlockExplainsThePlugin(t *testing.T) {
	type reasons = map[report.Key]incident.Reason
	down := func(id string, more ...func(*report.Observation)) report.Observation {
		return incidenttest.Observe(append([]func(*report.Observation){incidenttest.PluginDown(id), incidenttest.Launched(id, 0, report.Missed)}, more...)...)
	}
	for name, test := range map[string]struct {
		steps []incidenttest.Step
		open  []report.Key // in the end
	}{
		"the blocks first": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{theBlocks: incident.IsWorse}},
		}, []report.Key{theBlocks}},
		"the plugin first": {[]incidenttest.Step{
			{Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded}},
		}, []report.Key{theBlocks}},
		"a node that is not Ready, and no word of its plugin": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened, incidenttest.TheNode: incident.IsSuperseded}},
		}, []report.Key{theBlocks}},
		"the subnet of the pods first": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(ofPods)), Want: reasons{thePodBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{thePodBlocks: incident.IsWorse}},
		}, []report.Key{thePodBlocks}},
		"the subnet of the pods later": {[]incidenttest.Step{
			{Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock(ofPods)), Want: reasons{thePodBlocks: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded}},
		}, []report.Key{thePodBlocks}},
		"blocks are free again, and the node joins": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{theBlocks: incident.IsWorse}},
			{Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPFragmented, incidenttest.Subnet)), Want: reasons{theBlocks: incident.CauseGone}},
			{Minute: 11, Obs: down("i-1"), Want: reasons{theBlocks: incident.NothingNew}},
			{Minute: 12, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Joined), incidenttest.ReadyAt(12)), Want: reasons{theBlocks: incident.IsProved}},
		}, nil},
		"a node of another subnet": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1", incidenttest.InSubnet("subnet-0ther")), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"one node of two is of another subnet": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{theBlocks: incident.IsWorse, incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"two reasons for one node are none for another": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(), incidenttest.Leaks()), Want: reasons{theBlocks: incident.Opened, incidenttest.TheLeak: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{theBlocks: incident.IsWorse, incidenttest.TheLeak: incident.IsWorse, incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheLeak, incidenttest.ThePlugin}},
		"the plugin may make interfaces elsewhere": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(doubtful)), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"the image is not pulled, which needs no address": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), behind("route/no-egress"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 10, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.NothingNew}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"another fault of the node": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheSymptom}},
		"no block is no shortage": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheEmpty}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, inc := range incidenttest.Play(t, test.steps) {
				if inc.State == incident.Open {
					got = append(got, fmt.Sprint(inc.Key))
				}
			}
			var want []string
			for _, k := range test.open {
				want = append(want, fmt.Sprint(k))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("open in the end are %v, want %v", got, want)
			}
		})
	}
}
