package cloudtrail

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// EC2's newer calls are in CloudTrail as its XML was turned into JSON: under the
// name of the request, lists numbered by "tag" and a list of one as what it holds,
// an empty one as an empty text, and whatever looks like a number as a number
// (aws/karpenter-provider-aws#5850, #7254, kubernetes-sigs/karpenter#2813).

// namespace is that of EC2's answers.
const namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"

// mostAnswer is the size over which CloudTrail leaves an answer out (AWS re:Post,
// "responseElements omitted").
const mostAnswer = 100 << 10

// requestOf is a request in that form; nil for a call that has another.
func requestOf(v any) map[string]any {
	switch in := v.(type) {
	case *ec2.CreateFleetInput:
		return map[string]any{"CreateFleetRequest": asked(reflect.ValueOf(in))}
	case *ec2.CreateLaunchTemplateInput:
		return map[string]any{"CreateLaunchTemplateRequest": asked(reflect.ValueOf(in))}
	}
	return nil
}

// answerOf is an answer in that form; nil for a call that has another.
func answerOf(v any, request string) map[string]any {
	var name string
	var answer any
	switch out := v.(type) {
	case *ec2.CreateFleetOutput:
		name = "CreateFleetResponse"
		answer = told(reflect.ValueOf(struct {
			FleetId          *string
			FleetInstanceSet any
			ErrorSet         any
		}{out.FleetId, out.Instances, out.Errors}))
	case *ec2.CreateLaunchTemplateOutput:
		name, answer = "CreateLaunchTemplateResponse", told(reflect.ValueOf(out))
	default:
		return nil
	}
	members, _ := answer.(map[string]any)
	members["xmlns"], members["requestId"] = namespace, request
	return map[string]any{name: members}
}

// queryNames are the members whose names in EC2's protocol are not the SDK's.
func queryNames() map[string]string {
	return map[string]string{
		"TagSpecifications": "TagSpecification", "Tags": "Tag", "NetworkInterfaces": "NetworkInterface", "SecurityGroupIds": "SecurityGroupId",
		"Groups": "SecurityGroupId", "BlockDeviceMappings": "BlockDeviceMapping",
	}
}

// asked is a part of a request. nil is what is not set.
func asked(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return asked(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if item := asked(v.Field(i)); item != nil {
				name := f.Name
				if other, ok := queryNames()[name]; ok {
					name = other
				}
				out[name] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case reflect.Slice:
		var list []any
		for i := range v.Len() {
			item := asked(v.Index(i))
			if m, ok := item.(map[string]any); ok {
				m["tag"] = i + 1
			} else {
				item = map[string]any{"tag": i + 1, "content": item}
			}
			list = append(list, item)
		}
		return one(list)
	}
	return plain(v)
}

// told is a part of an answer: lists are items.
func told(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return told(v.Elem())
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return t.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "ResultMetadata" {
				continue
			}
			if item := told(v.Field(i)); item != nil {
				out[strings.ToLower(f.Name[:1])+f.Name[1:]] = item
			}
		}
		return out
	case reflect.Slice:
		switch {
		case v.IsNil():
			return nil
		case v.Len() == 0:
			return "" // <errorSet/>
		}
		var list []any
		for i := range v.Len() {
			list = append(list, told(v.Index(i)))
		}
		return map[string]any{"item": one(list)}
	}
	return plain(v)
}

// one is a list, or what a list of one holds.
func one(list []any) any {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// plain is a text or a number. A text that is a whole number is one too.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			return nil
		}
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil && strconv.FormatInt(n, 10) == v.String() {
			return n
		}
		return v.String()
	case reflect.Bool:
		if !v.Bool() {
			return nil // only the SDK's plain flags, whose zero is not sent
		}
		return true
	}
	return v.Interface()
}
