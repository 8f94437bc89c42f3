// Package awscall makes the calls of remedies and of eni-cleanup, the only ones that
// change a customer's resources. It decides nothing. Each is made once and is
// never repeated by itself, and its answer says what came of it in a way that one
// can decide on.
package awscall

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/remedies"
)

// Client makes the calls of remedies.
type Client struct {
	Routes
	Instances
	SecurityGroups
	Capacity
	Access
}

var (
	_ remedies.Calls               = Client{}
	_ deleteleakedinterfaces.Calls = Interfaces{}
)

// New makes one whose clients try each call once.
func New(cfg aws.Config) Client {
	return Client{NewRoutes(cfg), NewInstances(cfg), NewSecurityGroups(cfg), NewCapacity(cfg), NewAccess(cfg)}
}

// AccessEntryCreator makes access entries of EKS clusters.
type AccessEntryCreator interface {
	CreateAccessEntry(context.Context, *eks.CreateAccessEntryInput, ...func(*eks.Options)) (*eks.CreateAccessEntryOutput, error)
}

var _ AccessEntryCreator = (*eks.Client)(nil)

// Access makes access entries for nodes.
type Access struct{ client AccessEntryCreator }

// NewAccess makes one whose client tries each call once.
func NewAccess(cfg aws.Config) Access {
	return Access{eks.NewFromConfig(cfg, func(o *eks.Options) { o.Retryer = once() })}
}

// CreateAccessEntry makes an entry without groups and policies.
func (a Access) CreateAccessEntry(ctx context.Context, cluster, principal, kind, token string) action.Answer {
	out, err := a.client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{
		ClusterName: aws.String(cluster), PrincipalArn: aws.String(principal), Type: aws.String(kind), ClientRequestToken: aws.String(token),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}

// CapacitySetter sets the desired count of Auto Scaling groups.
type CapacitySetter interface {
	SetDesiredCapacity(context.Context, *autoscaling.SetDesiredCapacityInput, ...func(*autoscaling.Options)) (*autoscaling.SetDesiredCapacityOutput, error)
}

// NodegroupUpdater sets the desired count of managed nodegroups.
type NodegroupUpdater interface {
	UpdateNodegroupConfig(context.Context, *eks.UpdateNodegroupConfigInput, ...func(*eks.Options)) (*eks.UpdateNodegroupConfigOutput, error)
}

var (
	_ CapacitySetter   = (*autoscaling.Client)(nil)
	_ NodegroupUpdater = (*eks.Client)(nil)
)

// Capacity sets desired counts.
type Capacity struct {
	groups     CapacitySetter
	nodegroups NodegroupUpdater
}

// NewCapacity makes one whose clients try each call once.
func NewCapacity(cfg aws.Config) Capacity {
	return Capacity{
		groups:     autoscaling.NewFromConfig(cfg, func(o *autoscaling.Options) { o.Retryer = once() }),
		nodegroups: eks.NewFromConfig(cfg, func(o *eks.Options) { o.Retryer = once() }),
	}
}

// SetDesiredCapacity sets the desired count of an Auto Scaling group.
func (c Capacity) SetDesiredCapacity(ctx context.Context, group string, desired int) action.Answer {
	out, err := c.groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: aws.String(group), DesiredCapacity: aws.Int32(int32(desired)),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}

// SetDesiredSize sets the desired count of a managed nodegroup alone: EKS keeps
// minimum and maximum. The token makes EKS take the same update once.
func (c Capacity) SetDesiredSize(ctx context.Context, cluster, nodegroup string, desired int, token string) action.Answer {
	out, err := c.nodegroups.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup), ClientRequestToken: aws.String(token),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(int32(desired))},
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}

// once is a retryer that never tries again: who calls decides on each answer,
// and a change whose answer was lost may have been made.
func once() aws.Retryer { return aws.NopRetryer{} }

// answered is what came of a call that was answered without an error.
func answered(meta middleware.Metadata) action.Answer {
	request, _ := awsmiddleware.GetRequestIDMetadata(meta)
	return action.Answer{Outcome: action.Done, Request: request}
}

// empty is an answer that holds nothing: its meaning is unknown.
func empty() action.Answer {
	return action.Answer{Outcome: action.Uncertain, Message: "the answer holds nothing"}
}

// refused is what an error says of a change. Codes that mean something of their
// own where an interface is deleted mean a refusal here.
func refused(err error) action.Answer {
	a := answerOf(err)
	if a.Outcome == action.InUse || a.Outcome == action.NotThere || a.Outcome == action.WouldDo {
		a.Outcome = action.Refused
	}
	return a
}

// InstanceEnder ends instances through their Auto Scaling groups.
type InstanceEnder interface {
	TerminateInstanceInAutoScalingGroup(context.Context, *autoscaling.TerminateInstanceInAutoScalingGroupInput, ...func(*autoscaling.Options)) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error)
}

var _ InstanceEnder = (*autoscaling.Client)(nil)

// Instances ends instances.
type Instances struct{ client InstanceEnder }

// NewInstances makes one whose client tries each call once.
func NewInstances(cfg aws.Config) Instances {
	return Instances{autoscaling.NewFromConfig(cfg, func(o *autoscaling.Options) { o.Retryer = once() })}
}

// EndInGroup ends an instance whose group launches another: the capacity stays.
func (i Instances) EndInGroup(ctx context.Context, id string) action.Answer {
	out, err := i.client.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		InstanceId: aws.String(id), ShouldDecrementDesiredCapacity: aws.Bool(false),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}

// InterfaceDeleter deletes network interfaces.
type InterfaceDeleter interface {
	DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error)
}

var _ InterfaceDeleter = (*ec2.Client)(nil)

// Interfaces deletes network interfaces.
type Interfaces struct{ client InterfaceDeleter }

// NewInterfaces makes a deleter. Its client tries each call once: who calls
// keeps to EC2's pace, and must see each throttle.
func NewInterfaces(cfg aws.Config) Interfaces {
	return Interfaces{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = aws.NopRetryer{} })}
}

// DeleteNetworkInterface deletes an interface, or, in a dry run, asks EC2 whether it would.
func (i Interfaces) DeleteNetworkInterface(ctx context.Context, id string, dryRun bool) action.Answer {
	in := &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(id)}
	if dryRun {
		in.DryRun = aws.Bool(true)
	}
	out, err := i.client.DeleteNetworkInterface(ctx, in)
	if err == nil && out == nil {
		return action.Answer{Outcome: action.Uncertain, Message: "the answer holds nothing"}
	}
	if err == nil && dryRun {
		// EC2 answers a dry run with an error, always: what else was it?
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return action.Answer{Outcome: action.Uncertain, Request: request, Message: "a dry run was answered as if it were none"}
	}
	if err == nil {
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return action.Answer{Outcome: action.Done, Request: request}
	}
	return answerOf(err)
}

func answerOf(err error) action.Answer {
	a := action.Answer{Outcome: action.Uncertain, Message: "no answer"}
	var response interface{ ServiceRequestID() string }
	if errors.As(err, &response) {
		a.Request = response.ServiceRequestID()
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		if unassumed(err) {
			a.Outcome = action.NoRole
		}
		return a
	}
	// What EC2 appends to a refusal holds the caller's whole request.
	a.Code = api.ErrorCode()
	a.Message, _, _ = strings.Cut(api.ErrorMessage(), " Encoded authorization failure message:")
	if a.Outcome = outcomeOf(a.Code, api.ErrorFault(), err); unassumed(err) {
		a.Outcome = action.NoRole
	}
	return a
}

// unassumed reports whether a call was never sent, for want of the role in which it is made: of
// calls one within the other, the inner one asks for the role (a client asks for its
// credentials while it signs).
func unassumed(err error) bool {
	var op *smithy.OperationError
	for depth, inner := 0, err; errors.As(inner, &op); depth, inner = depth+1, op.Err {
		if depth > 0 && op.Service() == "STS" && op.Operation() == "AssumeRole" {
			return true
		}
	}
	return false
}

// outcomeOf is what a code means (EC2, "Error codes for the Amazon EC2 API").
func outcomeOf(code string, fault smithy.ErrorFault, err error) action.Outcome {
	switch code {
	case "DryRunOperation":
		return action.WouldDo
	case "InvalidParameterValue", "InvalidNetworkInterface.InUse":
		// EC2 has no code of its own for an interface in use that is to be
		// deleted, and nothing else in the request can be a wrong value.
		return action.InUse
	case "InvalidNetworkInterfaceID.NotFound":
		return action.NotThere
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
		"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded":
		return action.Throttled
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
		"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked":
		return action.Denied
	case "InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired":
		return action.Uncertain
	}
	var status interface{ HTTPStatusCode() int }
	if fault == smithy.FaultServer || errors.As(err, &status) && status.HTTPStatusCode() >= 500 || code == "" || code == "UnknownError" {
		return action.Uncertain
	}
	return action.Refused
}

// RouteCreator adds routes to route tables.
type RouteCreator interface {
	CreateRoute(context.Context, *ec2.CreateRouteInput, ...func(*ec2.Options)) (*ec2.CreateRouteOutput, error)
}

var _ RouteCreator = (*ec2.Client)(nil)

// Routes adds routes.
type Routes struct{ client RouteCreator }

// NewRoutes makes one whose client tries each call once.
func NewRoutes(cfg aws.Config) Routes {
	return Routes{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = once() })}
}

// CreateRoute adds a route. EC2 refuses another route for the same destination
// (RouteAlreadyExists); it never replaces one.
func (r Routes) CreateRoute(ctx context.Context, table, destination, nat string) action.Answer {
	out, err := r.client.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String(destination), NatGatewayId: aws.String(nat),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil || !aws.ToBool(out.Return):
		return empty()
	}
	return answered(out.ResultMetadata)
}

// IngressAuthorizer adds inbound rules to security groups.
type IngressAuthorizer interface {
	AuthorizeSecurityGroupIngress(context.Context, *ec2.AuthorizeSecurityGroupIngressInput, ...func(*ec2.Options)) (*ec2.AuthorizeSecurityGroupIngressOutput, error)
}

var _ IngressAuthorizer = (*ec2.Client)(nil)

// SecurityGroups opens ports.
type SecurityGroups struct{ client IngressAuthorizer }

// NewSecurityGroups makes one whose client tries each call once.
func NewSecurityGroups(cfg aws.Config) SecurityGroups {
	return SecurityGroups{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = once() })}
}

// AdmitTCP admits one port from security groups, in one call: all of it or nothing.
func (s SecurityGroups) AdmitTCP(ctx context.Context, group string, port int, from []string) action.Answer {
	var pairs []types.UserIdGroupPair
	for _, id := range from {
		pairs = append(pairs, types.UserIdGroupPair{GroupId: aws.String(id), Description: aws.String("Nodes (Rollcall)")})
	}
	out, err := s.client.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{
		GroupId: aws.String(group),
		IpPermissions: []types.IpPermission{{
			IpProtocol: aws.String("tcp"), FromPort: aws.Int32(int32(port)), ToPort: aws.Int32(int32(port)), UserIdGroupPairs: pairs,
		}},
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil || !aws.ToBool(out.Return):
		return empty()
	}
	return answered(out.ResultMetadata)
}
