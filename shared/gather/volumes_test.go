package gather

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// volumeOf is a volume of a world file.
func volumeOf(id, zone string, tags ...string) string {
	var list []string
	for _, t := range tags {
		key, value, _ := strings.Cut(t, "=")
		list = append(list, fmt.Sprintf("{Key: %q, Value: %q}", key, value))
	}
	return fmt.Sprintf("    - {VolumeId: %s, AvailabilityZone: %s, State: available, VolumeType: gp3, Size: 8, Tags: [%s]}\n", id, zone, strings.Join(list, ", "))
}

const (
	ofDriver = "ebs.csi.aws.com/cluster=true"
	ofClaim  = "kubernetes.io/created-for/pvc/name=redis"
	ofSpace  = "kubernetes.io/created-for/pvc/namespace=redash"
	ofCSI    = "CSIVolumeName=pvc-1"
)

// TestVolumesOfOthersAreNobodys: what names another cluster, several, or none,
// is not counted, whatever else it says, unless a PersistentVolume names it.
func TestVolumesOfOthersAreNobodys(t *testing.T) {
	p := open(t, "ec2:\n  Volumes:\n"+
		volumeOf("vol-0other", "us-west-2c", "kubernetes.io/cluster/other=owned", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0nobody", "us-west-2c", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0two", "us-west-2c", "kubernetes.io/cluster/other=owned", "kubernetes.io/cluster/eks-workshop=owned", ofCSI)+
		volumeOf("vol-0longer", "us-west-2c", "kubernetes.io/cluster/eks-workshop-2=owned", ofCSI)+
		volumeOf("vol-0legacyother", "us-west-2c", "KubernetesCluster=other", ofClaim, ofSpace)+
		volumeOf("vol-0root", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", "eks:nodegroup-name=x")+
		volumeOf("vol-0bare", "us-west-2c")+
		volumeOf("vol-0ours", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0legacy", "us-west-2a", "KubernetesCluster=eks-workshop", ofClaim, ofSpace)+
		volumeOf("vol-0auto", "us-west-2b", "eks:eks-cluster-name=eks-workshop", ofCSI)+
		volumeOf("vol-0byhand", "us-west-2b")+
		volumeOf("vol-0moved", "us-west-2b", "kubernetes.io/cluster/old=owned", ofCSI)+`
kubernetes:
  eks-workshop:
    PersistentVolumes:
      - {metadata: {name: by-hand}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0byhand}}, status: {phase: Bound}}
      - {metadata: {name: moved}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0moved}}, status: {phase: Bound}}
      - {metadata: {name: deleted}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0deleted}}, status: {phase: Released}}
      - {metadata: {name: files}, spec: {csi: {driver: efs.csi.aws.com, volumeHandle: fs-0a}}, status: {phase: Bound}}
`)
	s, _ := whole(t, p)
	got := names(s.Volumes, func(v snapshot.Volume) string { return v.ID })
	want := []string{"vol-0auto", "vol-0byhand", "vol-0legacy", "vol-0moved", "vol-0ours"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	i := slices.IndexFunc(s.Volumes, func(v snapshot.Volume) bool { return v.ID == "vol-0ours" })
	if v := s.Volumes[i]; v.Zone != "us-west-2c" || v.Claim() != "redash/redis" || v.State != "available" || v.GiB != 8 {
		t.Errorf("volume %+v", v)
	}
}

// TestVolumesWithoutKubernetes: the tags alone tell.
func TestVolumesWithoutKubernetes(t *testing.T) {
	p := openFaulty(t, "ec2:\n  Volumes:\n"+
		volumeOf("vol-0ours", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", ofCSI)+
		volumeOf("vol-0byhand", "us-west-2b")+
		"kubernetes:\n  eks-workshop:\n    PersistentVolumes:\n      - {metadata: {name: by-hand}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0byhand}}}\n",
		nil, "persistentvolumes")
	s, _ := whole(t, p)
	if got := names(s.Volumes, func(v snapshot.Volume) string { return v.ID }); !slices.Equal(got, []string{"vol-0ours"}) || !s.Has(snapshot.VolumesOf) {
		t.Errorf("volumes %q, failure %+v", got, s.Failures[snapshot.VolumesOf])
	}
	if f := s.Failures[snapshot.PersistentVolumes]; f.Reason != snapshot.Denied || f.Call != "kubernetes: list persistentvolumes" {
		t.Errorf("failure %+v", f)
	}
}

// TestManyVolumes: pages of 500, and other clusters' volumes are dropped.
func TestManyVolumes(t *testing.T) {
	var text strings.Builder
	text.WriteString("ec2:\n  Volumes:\n")
	for i := range 1300 {
		cluster := "eks-workshop"
		if i%2 == 0 {
			cluster = "other"
		}
		text.WriteString(volumeOf(fmt.Sprintf("vol-%05d", i), "us-west-2a", "KubernetesCluster="+cluster, ofCSI))
	}
	p := open(t, text.String())
	s, _ := whole(t, p)
	calls := 0
	for _, c := range p.aws.Calls() {
		if c.Action() == "ec2:DescribeVolumes" {
			calls++
		}
	}
	if len(s.Volumes) != 650 || calls != 3 {
		t.Errorf("%d volumes in %d calls, want 650 in 3", len(s.Volumes), calls)
	}
}
