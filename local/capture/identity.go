package capture

import (
	"regexp"
	"slices"

	"encoding/json"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/gather"
)

// What a capture is taken to be of where no file tells.
const (
	noAccount = "000000000000"
	noRegion  = "us-east-1"
)

// arnParts takes the region and the account out of an ARN.
var arnParts = regexp.MustCompile(`^arn:[a-z-]+:[a-z0-9-]+:([a-z0-9-]+):([0-9]{12}):`)

// zoneRegion takes the region out of an availability zone's name, and out of
// that of a local or wavelength zone.
var zoneRegion = regexp.MustCompile(`^([a-z]{2}(?:-[a-z]+)+-[0-9]+)(?:[a-z]$|-)`)

// identify finds out what the capture is of: its clusters, account and region.
func (c *Capture) identify() {
	set := map[string]bool{}
	if list, ok := c.files["eks-list-clusters"].(*eks.ListClustersOutput); ok {
		for _, name := range list.Clusters {
			set[name] = true
		}
		delete(set, "")
	}
	for _, name := range c.names("eks-describe-cluster") {
		out, ok := c.files[name].(*eks.DescribeClusterOutput)
		if !ok || out.Cluster == nil {
			continue
		}
		if called := aws.ToString(out.Cluster.Name); called != "" {
			set[called] = true
		}
		c.is(aws.ToString(out.Cluster.Arn))
	}
	c.Clusters = slices.Sorted(maps.Keys(set))
	if out, ok := c.files["sts-get-caller-identity"].(*sts.GetCallerIdentityOutput); ok && aws.ToString(out.Account) != "" {
		c.Account = *out.Account
	}
	c.byEvent()
	c.byZone()
	if c.Account == "" {
		c.Account = noAccount
	}
	if c.Region == "" {
		c.Region = noRegion
		c.warn("no file tells the region: it is taken to be %s", noRegion)
	}
}

// is takes account and region from an ARN, unless they are known.
func (c *Capture) is(arn string) {
	m := arnParts.FindStringSubmatch(arn)
	if m == nil {
		return
	}
	if c.Region == "" {
		c.Region = m[1]
	}
	if c.Account == "" {
		c.Account = m[2]
	}
}

func (c *Capture) byEvent() {
	var e struct{ Account, Region string }
	if c.Event == nil || json.Unmarshal(c.Event, &e) != nil {
		return
	}
	if c.Region == "" {
		c.Region = e.Region
	}
	if c.Account == "" {
		c.Account = e.Account
	}
}

func (c *Capture) byZone() {
	var zones []string
	if out, ok := c.files["ec2-describe-subnets"].(*ec2.DescribeSubnetsOutput); ok {
		for _, s := range out.Subnets {
			zones = append(zones, aws.ToString(s.AvailabilityZone))
		}
	}
	if out, ok := c.files["ec2-describe-instances"].(*ec2.DescribeInstancesOutput); ok {
		for _, r := range out.Reservations {
			for _, in := range r.Instances {
				if in.Placement != nil {
					zones = append(zones, aws.ToString(in.Placement.AvailabilityZone))
				}
			}
		}
	}
	for _, z := range zones {
		if m := zoneRegion.FindStringSubmatch(z); m != nil && c.Region == "" {
			c.Region = m[1]
		}
	}
}

// Bare reports whether nothing of a cluster runs, by the tags of instances and groups,
// beside a cluster whose nodes are in the capture: such a cluster's files may be missing.
func (c *Capture) Bare(cluster string) bool {
	if _, nodes := c.files[c.find("kubectl-get-nodes", []string{cluster})]; nodes || len(c.names("kubectl-get-nodes")) == 0 {
		return false
	}
	runs := false
	for _, file := range c.files {
		switch out := file.(type) {
		case *ec2.DescribeInstancesOutput:
			for _, r := range out.Reservations {
				for _, in := range r.Instances {
					tags := map[string]string{}
					for _, t := range in.Tags {
						tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
					}
					of, _ := gather.ClusterOf(tags)
					runs = runs || of == cluster
				}
			}
		case *autoscaling.DescribeAutoScalingGroupsOutput:
			for _, g := range out.AutoScalingGroups {
				tags := map[string]string{}
				for _, t := range g.Tags {
					tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
				}
				of, _ := gather.ClusterOf(tags)
				runs = runs || of == cluster
			}
		}
	}
	return !runs
}
