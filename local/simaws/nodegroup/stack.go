package nodegroup

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// stackTime is how long CloudFormation takes to see a new status: it asks
// again and again.
const stackTime = 20 * time.Second

// StackOf is the stack that a nodegroup is a resource of, nil for none.
func StackOf(w *state.State, ng *state.Nodegroup) *worldfile.NodegroupStack {
	for i := range w.File.EKS.Stacks {
		s := &w.File.EKS.Stacks[i]
		if SameCluster(s.Cluster, aws.ToString(ng.ClusterName)) && s.Nodegroup == aws.ToString(ng.NodegroupName) {
			return s
		}
	}
	return nil
}

// tellStack has the stack of a nodegroup tell of its creation and deletion. A
// status that comes later, such as DEGRADED, is none of CloudFormation's.
func tellStack(w *state.State, ng *state.Nodegroup, before ekstypes.NodegroupStatus) {
	s := StackOf(w, ng)
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
		status, reason = "CREATE_FAILED", unstable(w, ng)
	case ng.Status == ekstypes.NodegroupStatusDeleting:
		status = "DELETE_IN_PROGRESS"
	case ng.Status == ekstypes.NodegroupStatusDeleteFailed:
		status, reason = "DELETE_FAILED", unstable(w, ng)
	}
	TellStackOf(w, ng, s, status, reason)
}

// unstable is CloudFormation's reason for a nodegroup that did not become what
// it should.
func unstable(w *state.State, ng *state.Nodegroup) string {
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

// TellStackOf has a nodegroup's stack tell of a status.
func TellStackOf(w *state.State, ng *state.Nodegroup, s *worldfile.NodegroupStack, status, reason string) {
	if status == "" || ng.Stacked == status {
		return
	}
	ng.Stacked = status
	// The stack's id is in all of its events, so it is made of its name.
	stack := w.ARN("cloudformation", "stack/"+s.Stack+"/"+ids.OfName(s.Stack))
	physical := aws.ToString(ng.ClusterName) + "/" + aws.ToString(ng.NodegroupName)
	w.After(stackTime, func() {
		w.Emit("aws.cloudformation", "CloudFormation Resource Status Change", []string{stack}, stackChange{
			StackID: stack, LogicalResourceID: cmp.Or(s.LogicalId, "ManagedNodeGroup"), PhysicalResourceID: physical,
			StatusDetails: stackStatus{status, reason}, ResourceType: "AWS::EKS::Nodegroup",
		})
	})
}
