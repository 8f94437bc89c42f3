package world

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/worldfile"
)

// stackTime is how long CloudFormation takes to see a new status: it asks
// again and again.
const stackTime = 20 * time.Second

// stackOf is the stack that a nodegroup is a resource of, nil for none.
func (w *World) stackOf(ng *nodegroup) *worldfile.NodegroupStack {
	for i := range w.file.EKS.Stacks {
		s := &w.file.EKS.Stacks[i]
		if sameCluster(s.Cluster, aws.ToString(ng.ClusterName)) && s.Nodegroup == aws.ToString(ng.NodegroupName) {
			return s
		}
	}
	return nil
}

// tellStack has the stack of a nodegroup tell of its creation and deletion. A
// status that comes later, such as DEGRADED, is none of CloudFormation's.
func (w *World) tellStack(ng *nodegroup, before ekstypes.NodegroupStatus) {
	s := w.stackOf(ng)
	if s == nil {
		return
	}
	status, reason := "", ""
	switch {
	case ng.Status == ekstypes.NodegroupStatusCreating:
		status = "CREATE_IN_PROGRESS"
	case before == ekstypes.NodegroupStatusCreating && ng.Status == ekstypes.NodegroupStatusActive:
		status = "CREATE_COMPLETE"
	case ng.Status == ekstypes.NodegroupStatusCreateFailed:
		status, reason = "CREATE_FAILED", w.unstable(ng)
	case ng.Status == ekstypes.NodegroupStatusDeleting:
		status = "DELETE_IN_PROGRESS"
	case ng.Status == ekstypes.NodegroupStatusDeleteFailed:
		status, reason = "DELETE_FAILED", w.unstable(ng)
	}
	w.tellStackOf(ng, s, status, reason)
}

// unstable is CloudFormation's reason for a nodegroup that did not become what
// it should.
func (w *World) unstable(ng *nodegroup) string {
	var issues []string
	if ng.Health != nil {
		for _, i := range ng.Health.Issues {
			issues = append(issues, issueText(i))
		}
	}
	return fmt.Sprintf("Nodegroup %s failed to stabilize: [%s]", aws.ToString(ng.NodegroupName), strings.Join(issues, ", "))
}

type stackStatus struct {
	Status       string `json:"status"`
	StatusReason string `json:"status-reason"`
}

type stackChange struct {
	StackID            string      `json:"stack-id"`
	LogicalResourceID  string      `json:"logical-resource-id"`
	PhysicalResourceID string      `json:"physical-resource-id"`
	StatusDetails      stackStatus `json:"status-details"`
	ResourceType       string      `json:"resource-type"`
	ClientRequestToken string      `json:"client-request-token"`
}

func (w *World) tellStackOf(ng *nodegroup, s *worldfile.NodegroupStack, status, reason string) {
	if status == "" || ng.stacked == status {
		return
	}
	ng.stacked = status
	// The stack's id is in all of its events, so it is made of its name.
	stack := w.arn("cloudformation", "stack/"+s.Stack+"/"+ids.OfName(s.Stack))
	physical := aws.ToString(ng.ClusterName) + "/" + aws.ToString(ng.NodegroupName)
	w.after(stackTime, func() {
		w.emit("aws.cloudformation", "CloudFormation Resource Status Change", []string{stack}, stackChange{
			StackID: stack, LogicalResourceID: cmp.Or(s.LogicalId, "ManagedNodeGroup"), PhysicalResourceID: physical,
			StatusDetails: stackStatus{status, reason}, ResourceType: "AWS::EKS::Nodegroup",
		})
	})
}
