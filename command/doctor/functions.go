package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/shared/spec"
)

// functions looks at each function, and at the role and the queue that it has. Where
// there is none at all, that is the one finding.
func (c Clients) functions(ctx context.Context, d Deployment) (there []functionOf, list []Finding) {
	refused := 0
	var off []spec.Spec
	for _, s := range d.Specs {
		name := Prefix + "-" + s.Name
		out, err := c.Functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
		switch {
		case coded(err, "ResourceNotFoundException") && s.Only != "":
			off = append(off, s)
			continue
		case coded(err, "ResourceNotFoundException"):
			list = append(list, redeploy(Finding{Part: "function", Name: name, Says: "is not there: " + s.FailureImpact}))
			continue
		case err != nil:
			refused++
			list = append(list, unseen("function", name, "lambda:GetFunctionConfiguration", err))
			continue
		}
		f := functionOf{spec: s, arn: aws.ToString(out.FunctionArn), role: aws.ToString(out.Role), settings: map[string]string{}}
		if out.Environment != nil {
			f.settings = out.Environment.Variables
		}
		there = append(there, f)
		list = append(list, functionState(name, s, out))
		list = append(list, c.role(ctx, f)...)
		if s.Queue != nil {
			list = append(list, c.mapping(ctx, f))
		}
	}
	if len(there) == 0 && refused == 0 {
		return nil, []Finding{{
			Part: "deployment", Name: d.Account + " " + d.Region, State: Wrong, Says: "Rollcall is not deployed in this account and region", Do: "Deploy it, or choose another account or region with --profile and --region.", Command: "make deploy",
		}}
	}
	for _, s := range off {
		list = append(list, c.only(s, there))
	}
	return there, list
}

// functionState is how a function is by what Lambda tells of it.
func functionState(name string, s spec.Spec, out *lambda.GetFunctionConfigurationOutput) Finding {
	f := Finding{Part: "function", Name: name, State: Well, Says: "is active"}
	switch {
	case out.LastUpdateStatus == types.LastUpdateStatusFailed:
		f.Says = "its last update failed: " + aws.ToString(out.LastUpdateStatusReason)
		f.Do = "Deploy again when what the reason names is mended."
		return redeploy(f)
	case out.State == types.StateFailed:
		f.Says = "cannot run: " + aws.ToString(out.StateReason) + ": " + s.FailureImpact
		f.Do = "Deploy again when what the reason names is mended."
		return redeploy(f)
	case out.State == types.StatePending, out.LastUpdateStatus == types.LastUpdateStatusInProgress:
		f.State, f.Says, f.Do = Unknown, "is being deployed", "Look again in a minute."
	}
	return f
}

// only is a function that is deployed where a setting is on, and is not there.
func (c Clients) only(s spec.Spec, there []functionOf) Finding {
	name := Prefix + "-" + s.Name
	for _, f := range there {
		if strings.EqualFold(f.setting(s.Only), "on") {
			return redeploy(Finding{Part: "function", Name: name, Says: fmt.Sprintf("is not there, and %s is on: %s", s.Only, s.FailureImpact)})
		}
	}
	return Finding{Part: "function", Name: name, State: Off, Says: fmt.Sprintf("is not deployed: %s is off", s.Only)}
}

// role looks whether a function's role is there: without it each of its calls is
// refused, and Lambda does not say so before it runs.
func (c Clients) role(ctx context.Context, f functionOf) []Finding {
	name := f.role[strings.LastIndex(f.role, "/")+1:]
	_, err := c.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	switch {
	case coded(err, "NoSuchEntity"):
		return []Finding{redeploy(Finding{Part: "role", Name: name, Says: "of " + Prefix + "-" + f.spec.Name + " is not there: none of its calls is let through"})}
	case err != nil:
		return []Finding{unseen("role", name, "iam:GetRole", err)}
	}
	return nil
}

// mapping looks whether a function's queue wakes it.
func (c Clients) mapping(ctx context.Context, f functionOf) Finding {
	name := Prefix + "-" + f.spec.Name
	out, err := c.Functions.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: aws.String(f.arn)})
	if err != nil {
		return unseen("queue", name, "lambda:ListEventSourceMappings", err)
	}
	if len(out.EventSourceMappings) == 0 {
		return redeploy(Finding{Part: "queue", Name: name, Says: "no queue wakes it: its event source mapping is not there"})
	}
	m := out.EventSourceMappings[0]
	queue := aws.ToString(m.EventSourceArn)
	queue = queue[strings.LastIndex(queue, ":")+1:]
	switch state := aws.ToString(m.State); state {
	case "Enabled", "Creating", "Enabling", "Updating":
		return Finding{Part: "queue", Name: queue, State: Well, Says: "wakes " + name}
	default:
		return Finding{
			Part: "queue", Name: queue, State: Wrong, Says: "does not wake " + name + ": its event source mapping is " + strings.ToLower(state), Do: "Enable it. What waits in the queue is kept meanwhile.",
			Command: "aws lambda update-event-source-mapping --uuid '" + aws.ToString(m.UUID) + "' --enabled",
		}
	}
}
