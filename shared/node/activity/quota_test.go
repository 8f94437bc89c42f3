package activity

import "testing"

func TestQuotaOf(t *testing.T) {
	tests := []struct{ instanceType, onDemand, spot string }{
		{"m5.large", "L-1216C47A", "L-34B43A08"},
		{"t4g.micro", "L-1216C47A", "L-34B43A08"},
		{"im4gn.large", "L-1216C47A", "L-34B43A08"},
		{"c7i-flex.large", "L-1216C47A", "L-34B43A08"},
		{"g4dn.xlarge", "L-DB2E81BA", "L-3819A6DF"},
		{"gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"},
		{"p4d.24xlarge", "L-417A185B", "L-7212CCBC"},
		{"p5.48xlarge", "L-417A185B", "L-C4BD4855"},
		{"p6-b200.48xlarge", "L-417A185B", ""},
		{"x2idn.16xlarge", "L-7295265B", "L-E3A00192"},
		{"f2.6xlarge", "L-74FC7D96", "L-88CF9481"},
		{"inf2.xlarge", "L-1945791B", "L-B5D1601B"},
		{"trn1.2xlarge", "L-2C3B7624", "L-6B0D517C"},
		{"dl1.24xlarge", "L-6E869C2A", "L-85EED4F7"},
		{"hpc7g.16xlarge", "L-F7808C92", ""},
		{"u-6tb1.metal", "L-43DA4232", ""},
		{"u7i-12tb.224xlarge", "L-43DA4232", ""},
		{"qq1.large", "", ""},
		{"p", "L-417A185B", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		for spot, want := range map[bool]string{false: tt.onDemand, true: tt.spot} {
			q, ok := QuotaOf(tt.instanceType, spot)
			if q.Code != want || ok != (want != "") || ok != (q.Name != "") {
				t.Errorf("QuotaOf(%q, %v) = %v, %v, want %q", tt.instanceType, spot, q, ok, want)
			}
		}
	}
}
