package worldgen

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/zonalshift"
	"rollcall/shared/checkid"
)

// zoneFaults are of zones in which volumes live.
func zoneFaults() []Fault {
	away := func(shift func(w *World, zoneID string)) func(*World) {
		return func(w *World) {
			zone := *w.subnet(w.Subnets[0]).AvailabilityZone
			w.shiftable()
			shift(w, ids.ZoneID(zone))
			w.waitFor(zone)
		}
	}
	return []Fault{
		{Name: "a zonal shift away from a volume's zone", Check: checkid.ZoneShifted, reach: noLaunch, applies: always, breaks: away(func(w *World, zoneID string) {
			w.shift(w.clusterARN(), zoneID, "ZONAL_SHIFT", -30*time.Minute, time.Hour)
		})},
		{Name: "an autoshift away from a volume's zone", Check: checkid.ZoneShifted, reach: noLaunch, applies: always, breaks: away(func(w *World, zoneID string) {
			w.File.ArcZonalShift.Autoshifts = []zonalshift.Autoshift{{AwayFrom: zoneID, StartTime: w.now().Add(-30 * time.Minute)}}
		})},
	}
}

func (w *World) clusterARN() string {
	return "arn:aws:eks:" + region + ":" + account + ":cluster/" + cluster
}

// shiftable has the cluster registered with ARC.
func (w *World) shiftable() {
	w.eks().ZonalShiftConfig = &ekstypes.ZonalShiftConfigResponse{Enabled: aws.Bool(true)}
}

// shift moves a resource away from a zone for a while.
func (w *World) shift(arn, zoneID, kind string, from, until time.Duration) {
	w.File.ArcZonalShift.ZonalShifts = append(w.File.ArcZonalShift.ZonalShifts, zonalshift.ZonalShift{
		ZonalShiftId: w.id("shift"), ResourceIdentifier: arn, AwayFrom: zoneID, ShiftType: kind, StartTime: w.now().Add(from), ExpiryTime: w.now().Add(until),
	})
}

// waitFor has a pod wait for its volume in a zone, in which all nodes are cordoned.
func (w *World) waitFor(zone string) {
	const volume = "vol-0f000000000000001"
	k := w.File.Kubernetes[cluster]
	w.File.EC2.Volumes = append(w.File.EC2.Volumes, ec2types.Volume{
		VolumeId: aws.String(volume), AvailabilityZone: &zone, State: ec2types.VolumeStateAvailable, VolumeType: ec2types.VolumeTypeGp3, Size: aws.Int32(8),
		Tags: []ec2types.Tag{
			{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned")}, {Key: aws.String("CSIVolumeName"), Value: aws.String("pvc-1")},
		},
	})
	k.PersistentVolumes = append(k.PersistentVolumes, map[string]any{
		"metadata": map[string]any{"name": "pvc-1"},
		"spec": map[string]any{
			"csi": map[string]any{"driver": "ebs.csi.aws.com", "volumeHandle": volume}, "claimRef": map[string]any{"namespace": "redash", "name": "redis"},
			"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
				map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{zone}},
			}}}}},
		},
		"status": map[string]any{"phase": "Bound"},
	})
	k.PersistentVolumeClaims = append(k.PersistentVolumeClaims, map[string]any{
		"metadata": map[string]any{"name": "redis", "namespace": "redash"}, "spec": map[string]any{"volumeName": "pvc-1"}, "status": map[string]any{"phase": "Bound"},
	})
	at := w.now().Add(-10 * time.Minute).UTC().Format(time.RFC3339)
	k.Pods = append(k.Pods, map[string]any{
		"metadata": map[string]any{"name": "redis-0", "namespace": "redash", "creationTimestamp": at},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "redis", "image": "redis"}},
			"volumes":    []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "redis"}}},
		},
		"status": map[string]any{"phase": "Pending", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": at,
			"message": fmt.Sprintf("0/%d nodes are available: 1 node(s) were unschedulable, %[1]d node(s) had volume node affinity conflict.", len(k.Nodes)),
		}}},
	})
	w.File.Kubernetes[cluster] = k
}

// shiftedBefore has a shift behind it that expired, and shifts of what is not the cluster.
func (w *World) shiftedBefore() {
	w.shiftable()
	zoneID := ids.ZoneID(*w.subnet(w.Subnets[0]).AvailabilityZone)
	w.shift(w.clusterARN(), zoneID, "ZONAL_SHIFT", -3*time.Hour, -time.Hour)
	w.shift("arn:aws:eks:"+region+":"+account+":cluster/other", zoneID, "ZONAL_SHIFT", -time.Hour, time.Hour)
	w.shift("arn:aws:elasticloadbalancing:"+region+":"+account+":loadbalancer/app/shop/1a2b3c4d5e6f7a8b", zoneID, "ZONAL_SHIFT", -time.Hour, time.Hour)
}
