package report

import (
	"fmt"
	"slices"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// podSubnet is the subnet of pods with custom networking; their nodes stand in subnet.
const podSubnet = "subnet-0pods"

var (
	theBlocks    = Key{cluster, noFreeBlock, subnet}
	thePodBlocks = Key{cluster, noFreeBlock, podSubnet}
)

// noBlock is what subnet-watch finds of a subnet without a free /28: it sees no
// instances.
func noBlock(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(noFreeBlock, checks.Certain, subnet+" has no free /28 for a prefix", append([]func(*diagnose.Cause){func(c *diagnose.Cause) {
		c.Nodegroups, c.Resources = nil, []string{subnet, "vpc-1"}
	}}, more...)...)
}

// ofPods makes it the pods' own subnet, with the subnet of the nodes beside it.
func ofPods(c *diagnose.Cause) {
	c.Resource, c.Covers, c.Resources = podSubnet, []string{podSubnet}, []string{podSubnet, subnet, "vpc-1"}
}

// behind names what alone explains the last cause away: of the image, say.
func behind(ids ...checks.ID) func(*Observation) {
	return func(o *Observation) { o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Behind = ids }
}

func doubtful(c *diagnose.Cause) { c.Confidence = checks.Possible }

// One message names the subnet without a free block, whoever looks first:
// subnet-watch counts its blocks, join-check sees that aws-node does not come up.
func TestNoFreeBlockExplainsThePlugin(t *testing.T) {
	type reasons = map[Key]Reason
	down := func(id string, more ...func(*Observation)) Observation {
		return observe(append([]func(*Observation){pluginDown(id), launched(id, 0, Missed)}, more...)...)
	}
	for name, test := range map[string]struct {
		steps []step
		open  []Key // in the end
	}{
		"the blocks first": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: down("i-1"), want: reasons{theBlocks: MoreAffected}},
		}, []Key{theBlocks}},
		"the plugin first": {[]step{
			{obs: down("i-1"), want: reasons{thePlugin: Opened}},
			{minute: 5, obs: observe(noBlock()), want: reasons{theBlocks: Opened, thePlugin: IsSuperseded}},
		}, []Key{theBlocks}},
		"a node that is not Ready, and no word of its plugin": {[]step{
			{obs: observe(notReady("i-1"), launched("i-1", 0, Missed)), want: reasons{theNode: Opened}},
			{minute: 5, obs: observe(noBlock()), want: reasons{theBlocks: Opened, theNode: IsSuperseded}},
		}, []Key{theBlocks}},
		"the subnet of the pods first": {[]step{
			{obs: observe(noBlock(ofPods)), want: reasons{thePodBlocks: Opened}},
			{minute: 5, obs: down("i-1"), want: reasons{thePodBlocks: MoreAffected}},
		}, []Key{thePodBlocks}},
		"the subnet of the pods later": {[]step{
			{obs: down("i-1"), want: reasons{thePlugin: Opened}},
			{minute: 5, obs: observe(noBlock(ofPods)), want: reasons{thePodBlocks: Opened, thePlugin: IsSuperseded}},
		}, []Key{thePodBlocks}},
		"blocks are free again, and the node joins": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: down("i-1"), want: reasons{theBlocks: MoreAffected}},
			{minute: 10, obs: observe(passed(noFreeBlock, subnet)), want: reasons{theBlocks: CauseGone}},
			{minute: 11, obs: down("i-1"), want: reasons{theBlocks: NothingNew}},
			{minute: 12, obs: observe(launched("i-1", 0, Joined), readyAt(12)), want: reasons{theBlocks: IsProved}},
		}, nil},
		"a node of another subnet": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: down("i-1", inSubnet("subnet-0ther")), want: reasons{thePlugin: Opened}},
		}, []Key{theBlocks, thePlugin}},
		"one node of two is of another subnet": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: observe(pluginDown("i-1", "i-2"), launched("i-1", 0, Missed), launched("i-2", 0, Missed), inSubnet("subnet-0ther")), want: reasons{theBlocks: MoreAffected, thePlugin: Opened}},
		}, []Key{theBlocks, thePlugin}},
		"two reasons for one node are none for another": {[]step{
			{obs: observe(noBlock(), leaks()), want: reasons{theBlocks: Opened, theLeak: Opened}},
			{minute: 5, obs: observe(pluginDown("i-1", "i-2"), launched("i-1", 0, Missed), launched("i-2", 0, Missed), inSubnet("subnet-0ther")), want: reasons{theBlocks: MoreAffected, theLeak: MoreAffected, thePlugin: Opened}},
		}, []Key{theBlocks, theLeak, thePlugin}},
		"the plugin may make interfaces elsewhere": {[]step{
			{obs: observe(noBlock(doubtful)), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: down("i-1"), want: reasons{thePlugin: Opened}},
		}, []Key{theBlocks, thePlugin}},
		"the image is not pulled, which needs no address": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: observe(pluginDown("i-1"), behind("route/no-egress"), launched("i-1", 0, Missed)), want: reasons{thePlugin: Opened}},
			{minute: 10, obs: observe(noBlock()), want: reasons{theBlocks: NothingNew}},
		}, []Key{theBlocks, thePlugin}},
		"another fault of the node": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: Opened}},
		}, []Key{theBlocks, theSymptom}},
		"no block is no shortage": {[]step{
			{obs: observe(noBlock()), want: reasons{theBlocks: Opened}},
			{minute: 5, obs: observe(isEmpty()), want: reasons{theEmpty: Opened}},
		}, []Key{theBlocks, theEmpty}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, inc := range play(t, test.steps) {
				if inc.State == Open {
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
