package template

import (
	"strings"
)

// ref is the value of {"Ref": id}.
func (r *resolver) ref(id string, p place) (any, error) {
	switch id {
	case "AWS::AccountId":
		return r.o.AccountID, nil
	case "AWS::Region":
		return r.o.Region, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return r.o.StackName, nil
	case "AWS::StackId":
		return r.arn("cloudformation", "stack/"+r.o.StackName+"/00000000-0000-4000-8000-000000000000"), nil
	case "AWS::NotificationARNs":
		return []any{}, nil
	case "AWS::NoValue":
		return noValue{}, nil
	}
	if v, ok := r.parameters[id]; ok {
		return v, nil
	}
	if _, ok := r.doc.Parameters[id]; ok {
		return nil, p.refuse("parameter %q has no default and no value is given", id)
	}
	n, err := r.named(id, p)
	if err != nil {
		return nil, err
	}
	return n.ref, nil
}

// getAtt is the value of {"Fn::GetAtt": [id, attribute]}.
func (r *resolver) getAtt(arg any, p place) (any, error) {
	var id, attribute string
	switch v := arg.(type) {
	case string:
		id, attribute, _ = strings.Cut(v, ".")
	case []any:
		if len(v) == 2 {
			id, _ = v[0].(string)
			attribute, _ = v[1].(string)
		}
	}
	if id == "" || attribute == "" {
		return nil, p.refuse("must be a resource and an attribute")
	}
	n, err := r.named(id, p)
	if err != nil {
		return nil, err
	}
	if v, ok := n.attributes[attribute]; ok {
		return v, nil
	}
	if n.strict {
		return nil, p.refuse("%s has no attribute %q that the stage knows", r.doc.Resources[id].Type, attribute)
	}
	// A type that the stage does not run: any value that is the same each
	// time will do.
	return id + "." + attribute, nil
}

// named are the values by which others refer to a resource.
type named struct {
	name       string
	arn        string
	ref        string
	attributes map[string]string
	// strict is set for types whose attributes are all known here.
	strict bool
}

func (r *resolver) arn(service, resource string) string {
	return "arn:aws:" + service + ":" + r.o.Region + ":" + r.o.AccountID + ":" + resource
}

// nameProperty is the property with which a template names the resource.
func nameProperty(resourceType string) string {
	switch resourceType {
	case "AWS::Lambda::Function":
		return "FunctionName"
	case "AWS::SQS::Queue":
		return "QueueName"
	case "AWS::Events::Rule", "AWS::Events::EventBus", "AWS::Scheduler::Schedule", "AWS::Scheduler::ScheduleGroup", "AWS::SecretsManager::Secret":
		return "Name"
	case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
		return "TableName"
	case "AWS::IAM::Role":
		return "RoleName"
	case "AWS::IAM::ManagedPolicy":
		return "ManagedPolicyName"
	case "AWS::IAM::Policy":
		return "PolicyName"
	case "AWS::Logs::LogGroup":
		return "LogGroupName"
	case "AWS::SNS::Topic":
		return "TopicName"
	case "AWS::CloudWatch::Alarm":
		return "AlarmName"
	case "AWS::CloudWatch::Dashboard":
		return "DashboardName"
	case "AWS::S3::Bucket":
		return "BucketName"
	}
	return ""
}

// named makes the names of a resource. Names that AWS would generate are the
// stack's name and the logical id, so that they are the same each time.
func (r *resolver) named(id string, p place) (named, error) {
	res, ok := r.doc.Resources[id]
	if !ok {
		return named{}, p.refuse("%q is no resource or parameter of the template", id)
	}
	if !r.exists(id) {
		return named{}, p.refuse("resource %q is not created: its condition %q does not hold", id, res.Condition)
	}
	if r.busy["name "+id] {
		return named{}, p.refuse("the name of %q refers to itself", id)
	}
	r.busy["name "+id] = true
	defer delete(r.busy, "name "+id)

	name := r.o.StackName + "-" + id
	if property := nameProperty(res.Type); property != "" && res.Properties[property] != nil {
		v, err := r.value(res.Properties[property], place{id, "Properties." + property})
		if err != nil {
			return named{}, err
		}
		if s, ok := scalar(v); ok {
			name = s
		}
	} else if res.Type == "AWS::SQS::Queue" {
		if fifo, _ := scalar(res.Properties["FifoQueue"]); fifo == "true" {
			name += ".fifo"
		}
	}
	return r.values(id, res, name)
}

// values follows the "Return values" of each type's reference page.
func (r *resolver) values(id string, res resource, name string) (named, error) {
	n := named{name: name, ref: name, strict: true}
	switch res.Type {
	case "AWS::Lambda::Function":
		n.arn = r.arn("lambda", "function:"+name)
	case "AWS::Lambda::Url":
		// The reference is the function's ARN, and the address is Lambda's choice.
		n.ref = id
		n.attributes = map[string]string{"FunctionArn": id, "FunctionUrl": "https://" + strings.ToLower(id) + ".lambda-url." + r.o.Region + ".on.aws/"}
	case "AWS::SQS::Queue":
		n.arn = r.arn("sqs", name)
		n.ref = r.o.QueueURL + "/" + r.o.AccountID + "/" + name
		n.attributes = map[string]string{"Arn": n.arn, "QueueName": name, "QueueUrl": n.ref}
	case "AWS::Events::EventBus":
		n.arn = r.arn("events", "event-bus/"+name)
		n.attributes = map[string]string{"Arn": n.arn, "Name": name}
	case "AWS::Events::Rule":
		bus, err := r.busOf(id, res)
		if err != nil {
			return named{}, err
		}
		n.arn = r.arn("events", "rule/"+name)
		if bus != "default" {
			n.arn = r.arn("events", "rule/"+bus+"/"+name)
			n.ref = bus + "|" + name
		}
	case "AWS::Scheduler::Schedule":
		group := "default"
		if g := res.Properties["GroupName"]; g != nil {
			s, err := r.text(g, place{id, "Properties.GroupName"})
			if err != nil {
				return named{}, err
			}
			group = s
		}
		n.arn = r.arn("scheduler", "schedule/"+group+"/"+name)
	case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
		n.arn = r.arn("dynamodb", "table/"+name)
		n.attributes = map[string]string{"Arn": n.arn, "StreamArn": n.arn + "/stream/2026-01-01T00:00:00.000", "TableId": id}
	case "AWS::SecretsManager::Secret":
		n.arn = r.arn("secretsmanager", "secret:"+name+"-aBcDeF")
		n.ref = n.arn
		n.attributes = map[string]string{"Id": n.arn}
	case "AWS::IAM::Role":
		n.arn = "arn:aws:iam::" + r.o.AccountID + ":role/" + name
		n.attributes = map[string]string{"Arn": n.arn, "RoleId": "AROA" + strings.ToUpper(id)}
	case "AWS::IAM::ManagedPolicy":
		n.arn = "arn:aws:iam::" + r.o.AccountID + ":policy/" + name
		n.ref = n.arn
		n.attributes = map[string]string{"PolicyArn": n.arn}
	case "AWS::SNS::Topic":
		n.arn = r.arn("sns", name)
		n.ref = n.arn
		n.attributes = map[string]string{"TopicArn": n.arn, "TopicName": name}
	case "AWS::Logs::LogGroup":
		n.arn = r.arn("logs", "log-group:"+name+":*")
	case "AWS::KMS::Key":
		n.arn = r.arn("kms", "key/"+name)
		n.attributes = map[string]string{"Arn": n.arn, "KeyId": name}
	case "AWS::S3::Bucket":
		// S3's names have no capitals.
		n.name = strings.ToLower(name)
		n.arn, n.ref = "arn:aws:s3:::"+n.name, n.name
		n.attributes = map[string]string{"Arn": n.arn, "DomainName": n.name + ".s3.amazonaws.com"}
	case "AWS::CloudWatch::Alarm":
		n.arn = r.arn("cloudwatch", "alarm:"+name)
	default:
		// AWS::Service::Kind
		parts := strings.Split(res.Type, "::")
		n.arn = r.arn(strings.ToLower(parts[len(parts)/2]), name)
		n.strict = false
	}
	if n.attributes == nil {
		n.attributes = map[string]string{"Arn": n.arn}
	}
	return n, nil
}

// busOf returns the name of the bus of a rule, which a template may give by
// name or by ARN.
func (r *resolver) busOf(id string, res resource) (string, error) {
	v := res.Properties["EventBusName"]
	if v == nil {
		return "default", nil
	}
	s, err := r.text(v, place{id, "Properties.EventBusName"})
	if err != nil {
		return "", err
	}
	return busName(s), nil
}

func busName(nameOrARN string) string {
	if _, name, ok := strings.Cut(nameOrARN, ":event-bus/"); ok {
		return name
	}
	return nameOrARN
}
