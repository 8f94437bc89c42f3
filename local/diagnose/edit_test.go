package diagnose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The healthy capture's names.
const (
	vpc     = "vpc-0a1b2c3d4e5f60718"
	nat     = "nat-0aa40000000000001"
	public  = "rtb-0a100000000000abc" // the table of the NAT gateway's subnet
	gateway = "igw-0d40000000000000e"
	group   = "sg-0e50000000000000f" // the cluster's
	acl     = "acl-0f60000000000000a"
	dhcp    = "dopt-0f1e2d3c4b5a69788"
	image   = "ami-0a1e2d3c4b5a69788"
	lt      = "lt-0ed5109b020ce2bcb"
	asg     = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	role    = "arn:aws:iam::111122223333:role/new_nodegroup_2"
	profile = "eks-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	cluster = "eks-workshop"

	instances  = "ec2-describe-instances"
	tables     = "ec2-describe-route-tables"
	subnets    = "ec2-describe-subnets"
	nats       = "ec2-describe-nat-gateways"
	groups     = "autoscaling-describe-auto-scaling-groups"
	activities = "autoscaling-describe-scaling-activities"
	described  = "eks-describe-cluster.eks-workshop"
	groupFile  = "eks-describe-nodegroup.eks-workshop.new_nodegroup_2"
	nodes      = "kubectl-get-nodes.eks-workshop"
	templates  = "ec2-describe-launch-template-versions"

	// it is the instance on which the tests work, route its table's.
	it    = "Reservations.*.Instances.InstanceId=" + young
	route = "RouteTables.RouteTableId=" + table
)

// set writes a value, as JSON, into a file. A path's parts are names, indices,
// "*" for all items, and "name=value" for the items that have it. "+" adds an
// item to a list. A value "" takes the member away.
func set(file, path, value string) change {
	return edited(file, func(v any) { put(v, strings.Split(path, "."), value) })
}

func put(v any, path []string, value string) {
	head, last := path[0], len(path) == 1
	switch v := v.(type) {
	case map[string]any:
		if last && value == "" {
			delete(v, head)
			return
		}
		if last {
			v[head] = parsed(value)
			return
		}
		if path[1] == "+" {
			list, _ := v[head].([]any)
			v[head] = append(list, parsed(value))
			return
		}
		if v[head] == nil {
			v[head] = map[string]any{}
		}
		put(v[head], path[1:], value)
	case []any:
		key, want, byValue := strings.Cut(head, "=")
		index, err := strconv.Atoi(head)
		for i, item := range v {
			if head != "*" && !(err == nil && i == index) && !(byValue && has(item, key, want)) {
				continue
			}
			if last {
				v[i] = parsed(value)
				continue
			}
			put(item, path[1:], value)
		}
	}
}

func has(item any, key, want string) bool {
	m, _ := item.(map[string]any)
	text, _ := m[key].(string)
	return text == want
}

func parsed(value string) any {
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		panic(value + ": " + err.Error())
	}
	return v
}

// cut takes the items of a list away that hold a text.
func cut(file, list, text string) change {
	return edited(file, func(v any) {
		m := v.(map[string]any)
		kept := []any{}
		for _, item := range m[list].([]any) {
			if raw, _ := json.Marshal(item); !strings.Contains(string(raw), text) {
				kept = append(kept, item)
			}
		}
		m[list] = kept
	})
}

// changed replaces a text in one file.
func changed(file, old, new string) change {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, file+".json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not hold %q", file, old)
		}
		with(file+".json", strings.ReplaceAll(string(data), old, new))(t, dir)
	}
}

// refused are calls that were refused, as "file code".
func refused(calls ...string) change {
	return func(t *testing.T, dir string) {
		all := map[string]any{}
		for _, c := range calls {
			file, code, _ := strings.Cut(c, " ")
			os.Remove(filepath.Join(dir, file+".json"))
			all[file] = map[string]string{"code": code, "message": "refused"}
		}
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		with("errors.json", string(raw))(t, dir)
	}
}

func wrote(text string) change {
	raw, _ := json.Marshal(map[string]string{"InstanceId": young, "Output": text, "Timestamp": "2026-11-20T15:04:00.000Z"})
	return with("ec2-get-console-output."+young+".json", string(raw))
}
