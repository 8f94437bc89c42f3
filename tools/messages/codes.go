package main

import (
	"go/ast"
	"os"
	"slices"
	"strings"
)

// codeForm marks a program whose messages are error codes of an API.
const codeForm = "code"

// services are the APIs whose error codes are listed: out of the models that AWS SDK for Go
// v2 is made of, and EC2's from its documentation, which no model has. The packages' dirs
// are the call that is taken to have answered.
func services() []program {
	const sdk = "github.com/aws/aws-sdk-go-v2/service/"
	return []program{
		{"Auto Scaling codes", sdk + "autoscaling", "v1.79.3", codeForm, []walked{{"CreateAutoScalingGroup", "errors of the group that launches"}}},
		{"EKS codes", sdk + "eks", "v1.105.3", codeForm, []walked{{"CreateNodegroup", "errors of cluster, nodegroups, access entries and add-ons"}}},
		{"IAM codes", sdk + "iam", "v1.64.7", codeForm, []walked{{"GetInstanceProfile", "errors of roles and profiles"}}},
		{"STS codes", sdk + "sts", "v1.51.7", codeForm, []walked{{"AssumeRole", "errors of the identity that a node proves"}}},
		{"KMS codes", sdk + "kms", "v1.62.6", codeForm, []walked{{"CreateGrant", "errors of the keys of volumes"}}},
		{"SSM codes", sdk + "ssm", "v1.82.1", codeForm, []walked{{"GetParameter", "errors of the parameters that name images"}}},
		{"EC2 codes", "", "API reference, Error codes", codeForm, []walked{{"RunInstances", "EC2's documented codes that a launch can meet"}}},
	}
}

// walkCodes returns the codes of a service: what the errors of its model return as ErrorCode.
func walkCodes(dir string, p program) ([]message, error) {
	w := &walker{module: p.module, root: dir, consts: map[string]map[string]string{}}
	files, err := w.parse("types")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "ErrorCode" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
					if s, ok := w.text(ret.Results[0]); ok {
						w.pkg, w.fn = "types", s
						w.add(ret, kindCode, p.packages[0].dirs, s)
					}
				}
				return true
			})
		}
	}
	slices.SortFunc(w.list, compareMessages)
	return w.list, nil
}

// documented returns the codes of EC2's list, each with its call.
func documented() ([]message, error) {
	raw, err := os.ReadFile("shared/node/text/testdata/codes.txt")
	if err != nil {
		return nil, err
	}
	var list []message
	for line := range strings.Lines(string(raw)) {
		call, code, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && call != "#" {
			list = append(list, message{pkg: "documentation", fn: code, kind: kindCode, level: call, words: code})
		}
	}
	slices.SortFunc(list, compareMessages)
	return list, nil
}
