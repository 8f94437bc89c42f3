package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/stage"
)

const (
	cluster = "eks-workshop"
	// broken is the nodegroup whose nodes never join.
	broken      = "new_nodegroup_2"
	brokenGroup = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	// taken is the Spot nodegroup whose instances are taken back, refused the
	// one that gets none.
	taken      = "spot_taken"
	takenGroup = "eks-spot_taken-0000000a-1111-4222-8333-00000000000a"
	refused    = "spot_refused"
	// healthy is how many nodegroups there are besides, named load_1 and so on.
	healthy = 6
	// lives is how many minutes a node is kept: past its time to join.
	lives = 8
	// every is which of the launches goes to each of the nodegroups in trouble.
	every = 100
)

// driver scales the nodegroups up and down.
type driver struct {
	stage *stage.Stage
	eks   *eks.Client
	o     options
	size  map[string]int
	seen  int // events of the stage that were read
	truth map[string]launched
	// refusals are the activities that came to no instance.
	refusals map[string]bool
}

func newDriver(s *stage.Stage, o options) *driver {
	return &driver{stage: s, eks: eks.NewFromConfig(s.AsAdmin()), o: o, size: map[string]int{}, truth: map[string]launched{}, refusals: map[string]bool{}}
}

// drive launches a minute's share each minute, and takes back what was
// launched some minutes ago: a cluster that breathes.
func (d *driver) drive(ctx context.Context) error {
	type share struct {
		nodegroup string
		n         int
	}
	byMinute := map[int][]share{}
	left := d.o.launches
	for m := 0; m < d.o.minutes+lives; m++ {
		next := d.stage.Clock.Now().Add(time.Minute)
		if m < d.o.minutes {
			n := left / (d.o.minutes - m)
			left -= n
			bad := n / every
			byMinute[m] = []share{{broken, bad}, {taken, bad}, {refused, bad}, {fmt.Sprintf("load_%d", m%healthy+1), n - 2*bad}}
		}
		// One call for each: EKS refuses a second while the first is under way.
		by := map[string]int{}
		for _, s := range byMinute[m-lives] {
			by[s.nodegroup] -= s.n
		}
		for _, s := range byMinute[m] {
			by[s.nodegroup] += s.n
		}
		for _, nodegroup := range slices.Sorted(maps.Keys(by)) {
			if err := d.scale(ctx, nodegroup, by[nodegroup]); err != nil {
				return err
			}
		}
		fmt.Printf("  minute %2d: %5d launched, %4d running\n", m, d.o.launches-left, d.running())
		if err := d.wait(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) running() int {
	n := 0
	for _, size := range d.size {
		n += size
	}
	return n
}

func (d *driver) scale(ctx context.Context, nodegroup string, by int) error {
	if by == 0 {
		return nil
	}
	d.size[nodegroup] += by
	in := &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(450), DesiredSize: aws.Int32(int32(d.size[nodegroup]))},
	}
	_, err := d.eks.UpdateNodegroupConfig(ctx, in)
	// The update before may still be under way: the stage falls behind where
	// the machine is busy.
	var inUse *ekstypes.ResourceInUseException
	for try := 0; try < 20 && errors.As(err, &inUse); try++ {
		if err := d.wait(ctx, d.stage.Clock.Now().Add(3*time.Second)); err != nil {
			return err
		}
		_, err = d.eks.UpdateNodegroupConfig(ctx, in)
	}
	if err != nil {
		return fmt.Errorf("scale %s to %d: %w", nodegroup, d.size[nodegroup], err)
	}
	return nil
}

func (d *driver) wait(ctx context.Context, until time.Time) error {
	for d.stage.Clock.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(d.stage.Clock.Wall(d.stage.Clock.Until(until)), 100*time.Millisecond) + time.Millisecond):
		}
		d.read()
	}
	return nil
}

// read takes in the events since the last time: each instance that ran is a
// launch.
func (d *driver) read() {
	events := d.stage.Events()
	for _, p := range events[d.seen:] {
		var e struct {
			Source string `json:"source"`
			Type   string `json:"detail-type"`
			Detail struct {
				Instance string `json:"instance-id"`
				State    string `json:"state"`
				Group    string `json:"AutoScalingGroupName"`
				Launched string `json:"EC2InstanceId"`
				Activity string `json:"ActivityId"`
			} `json:"detail"`
		}
		if json.Unmarshal(p.Event, &e) != nil {
			continue
		}
		switch {
		case e.Source == "aws.ec2" && e.Detail.State == "running":
			l := d.truth[e.Detail.Instance]
			d.truth[e.Detail.Instance] = l
		case e.Type == "EC2 Instance Launch Unsuccessful" && e.Detail.Launched == "":
			d.refusals[e.Detail.Activity] = true
		case e.Type == "EC2 Spot Instance Interruption Warning":
			l := d.truth[e.Detail.Instance]
			l.warned = true
			d.truth[e.Detail.Instance] = l
		case e.Source == "aws.autoscaling" && e.Detail.Launched != "":
			l := d.truth[e.Detail.Launched]
			l.group = e.Detail.Group
			d.truth[e.Detail.Launched] = l
		}
	}
	d.seen = len(events)
}

// settle waits until nothing is due any more: the last launches, and the sweep
// that finds what the events did not bring.
func (d *driver) settle(ctx context.Context) (map[string]launched, error) {
	fmt.Println("  waiting for the last outcomes")
	if err := d.wait(ctx, d.stage.Clock.Now().Add(12*time.Minute)); err != nil {
		return nil, err
	}
	return d.truth, nil
}
