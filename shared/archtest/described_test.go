package archtest

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

const (
	gatherer = "shared/gather"
	// clientMaker is the one file in it that makes an EC2 client.
	clientMaker = "shared/gather/ec2api/managed.go"
)

// TestEC2IsDescribedInOnePlace holds that EC2 is described by package gather and
// those below it alone, with the one client that asks for managed resources: any other would
// not see EKS Auto Mode's instances and interfaces, and take them for gone.
func TestEC2IsDescribedInOnePlace(t *testing.T) {
	made := 0
	for _, p := range packages(t) {
		gathers := p.name() == gatherer || strings.HasPrefix(p.name(), gatherer+"/")
		for _, file := range p.GoFiles {
			for _, name := range ofEC2(parse(t, filepath.Join(p.Dir, file))) {
				switch {
				case gathers && name == "NewFromConfig":
					made++
					if p.name()+"/"+file != clientMaker {
						t.Errorf("%s/%s makes an EC2 client of its own", p.name(), file)
					}
				case !gathers && (strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "NewDescribe")):
					t.Errorf("%s/%s describes EC2 by itself: ec2.%s", p.name(), file, name)
				}
			}
		}
	}
	if made != 1 {
		t.Errorf("%s makes %d EC2 clients, want 1", gatherer, made)
	}
}

// ofEC2 are the names of the SDK's package ec2 that a file uses.
func ofEC2(file *ast.File) []string {
	local := ""
	for _, i := range file.Imports {
		if strings.Trim(i.Path.Value, `"`) == "github.com/aws/aws-sdk-go-v2/service/ec2" {
			local = "ec2"
			if i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	if local == "" {
		return nil
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}
