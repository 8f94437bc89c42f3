package world

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Calls of EKS that meet each other leave a world that goes on and comes to
// rest: no nodegroup is left in a passing state.
func TestCallsThatMeet(t *testing.T) {
	const ng = `{"clusterName":"eks-workshop","nodegroupName":"workers"`
	born := "eks:CreateNodegroup " + ng + `,"nodeRole":"arn:aws:iam::111122223333:role/new_nodegroup_2","subnets":["subnet-0b20000000000000a","subnet-0c30000000000000d"],"scalingConfig":{"minSize":0,"maxSize":3,"desiredSize":2}}`
	roll, drop := "eks:UpdateNodegroupVersion "+ng+"}", "eks:DeleteNodegroup "+ng+"}"
	grow := "eks:UpdateNodegroupConfig " + ng + `,"scalingConfig":{"desiredSize":3}}`
	tests := map[string]struct {
		calls []string
		every time.Duration
		want  string
	}{
		"deleted while it is created":  {[]string{born, drop}, 10 * time.Second, "ResourceNotFoundException"},
		"made again at once":           {[]string{born, drop, "", "", "", "", born}, 20 * time.Second, "CREATE_FAILED NodeCreationFailure[i]"},
		"updated while it is created":  {[]string{born, roll, grow}, 10 * time.Second, "CREATE_FAILED NodeCreationFailure[i]"},
		"rolled with a broken subnet":  {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, `ec2:DeleteRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0"}`, roll, drop}, 4 * time.Minute, "ACTIVE"},
		"scaled while it is updated":   {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, "", "", roll, grow}, time.Minute, "ACTIVE"},
		"its template is deleted then": {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, "", "", roll, "template"}, time.Minute, "DEGRADED Ec2LaunchTemplateNotFound[lt]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			for _, c := range tt.calls {
				w.Advance(w.Now().Add(tt.every))
				op, in, _ := strings.Cut(c, " ")
				if op == "template" {
					spec := w.GroupsOf(w.Nodegroups.Get("eks-workshop/workers"))[0].TemplateSpec()
					op, in = "ec2:DeleteLaunchTemplate", `{"LaunchTemplateId":"`+*spec.LaunchTemplateId+`"}`
				}
				if op != "" {
					_, _ = w.Call(op, json.RawMessage(in)) // refused where it meets another
				}
			}
			w.Advance(w.Now().Add(3 * time.Hour))
			if got := standing(t, w, "workers"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n := w.Nodegroups.Get("eks-workshop/workers"); n != nil {
				for _, g := range w.GroupsOf(n) {
					if *g.MaxSize > 3 || *g.DesiredCapacity > 3 {
						t.Errorf("the group is left at max %d, desired %d", *g.MaxSize, *g.DesiredCapacity)
					}
				}
			}
		})
	}
}
