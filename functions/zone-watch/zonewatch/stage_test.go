package zonewatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/functions/zone-watch/spec"
	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// volumes are two of the world: one that is the cluster's, in a zone of the
// Region where no group of it launches, and the like of another cluster.
func volumes(cluster string, waitsSince time.Time) string {
	return fmt.Sprintf(`
ec2:
  Volumes:
    - {VolumeId: vol-0redis, AvailabilityZone: us-west-2d, State: available, VolumeType: gp3, Size: 8, Tags: [
        {Key: kubernetes.io/cluster/%[1]s, Value: owned}, {Key: ebs.csi.aws.com/cluster, Value: "true"}, {Key: CSIVolumeName, Value: pvc-1},
        {Key: kubernetes.io/created-for/pvc/namespace, Value: redash}, {Key: kubernetes.io/created-for/pvc/name, Value: redis}]}
    - {VolumeId: vol-0other, AvailabilityZone: us-west-2e, State: available, VolumeType: gp3, Size: 8, Tags: [
        {Key: kubernetes.io/cluster/other, Value: owned}, {Key: ebs.csi.aws.com/cluster, Value: "true"}, {Key: CSIVolumeName, Value: pvc-2}]}
kubernetes:
  %[1]s:
    PersistentVolumes:
      - {metadata: {name: pvc-1}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0redis}, claimRef: {namespace: redash, name: redis},
          nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [us-west-2d]}]}]}}}, status: {phase: Bound}}
    PersistentVolumeClaims:
      - {metadata: {name: redis, namespace: redash}, spec: {volumeName: pvc-1}, status: {phase: Bound}}
    Pods:
      - {metadata: {name: redis-0, namespace: redash, creationTimestamp: %[2]q}, spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: redis}}]},
          status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: %[2]q,
            message: "0/2 nodes are available: 2 node(s) had volume node affinity conflict. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."}]}}
      - {metadata: {name: web-0, namespace: shop, creationTimestamp: %[2]q}, spec: {nodeName: ip-10-0-0-1}, status: {phase: Running}}
`, cluster, waitsSince.UTC().Format(time.RFC3339))
}

// long ago, by any world's clock.
func longAgo() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Over: volumes(stagetest.Cluster, longAgo())})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	for _, source := range []snapshot.Source{
		snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Instances, snapshot.Nodes, snapshot.Activities,
		snapshot.VolumesOf, snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.ZonesOf, snapshot.LaunchHistory,
	} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	if len(o.Diagnosis.Causes) != 1 {
		t.Fatalf("causes %+v, want one", o.Diagnosis.Causes)
	}
	c := o.Diagnosis.Causes[0]
	if c.Check != "zone/volume-stranded" || c.Resource != "us-west-2d" || c.Confidence != checks.Certain || !strings.HasPrefix(c.Why, "Volume vol-0redis of claim redash/redis lives in us-west-2d") {
		t.Errorf("cause %+v", c)
	}
	calls := b.Calls()
	for _, call := range []string{"ec2:DescribeVolumes", "ec2:DescribeAvailabilityZones", "ec2:DescribeInstances"} {
		if n := calls[call]; n != 1 {
			t.Errorf("%d calls of %s, want 1", n, call)
		}
	}
}

// TestALookIsCheap: it is taken every five minutes, of every cluster. The world
// has one with two nodegroups; the list of NodePools is one of the reads, and there
// are none.
func TestALookIsCheap(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Over: volumes(stagetest.Cluster, longAgo())})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for call, n := range b.Calls() {
		if service, _, _ := strings.Cut(call, ":"); slices.Contains([]string{"ec2", "eks", "autoscaling", "kubernetes"}, service) {
			reads += n
		}
	}
	if reads == 0 || reads > 18 {
		t.Errorf("%d reads of AWS and Kubernetes, want at most 18", reads)
	}
}

// TestWithoutRightsInTheCluster: the tags alone still tell.
func TestWithoutRightsInTheCluster(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{
		Over:   volumes(stagetest.Cluster, longAgo()),
		Faults: []simaws.FaultRule{{Call: "kubernetes:list persistentvolumes", Deny: true}, {Call: "kubernetes:list persistentvolumeclaims", Deny: true}, {Call: "kubernetes:list pods", Deny: true}},
	})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if causes := stagetest.Causes(o); causes["zone/volume-stranded"] != "us-west-2d" {
		t.Errorf("causes %v, blind %+v", causes, o.Blind)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Confidence == checks.Certain {
			t.Errorf("%s is certain, though Kubernetes could not be asked", c.Check)
		}
	}
}
