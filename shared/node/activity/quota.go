package activity

import "strings"

// Quota is a quota of Service Quotas, per account and region.
type Quota struct {
	Code string // L-1216C47A
	Name string
}

// QuotaOf is the quota of vCPUs that counts instances of a type (EC2 user
// guide, "EC2 service quotas" and "Spot Instance quotas"; the codes are those
// that ListServiceQuotas gives). ok is false for a family that is not known.
func QuotaOf(instanceType string, spot bool) (q Quota, ok bool) {
	family, _, _ := strings.Cut(instanceType, ".")
	letters := family
	if i := strings.IndexAny(family, "-0123456789"); i >= 0 {
		letters = family[:i]
	}
	if spot {
		return spotQuota(family, letters)
	}
	switch letters {
	case "a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is":
		return Quota{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"}, true
	case "g", "gr", "vt":
		return Quota{"L-DB2E81BA", "Running On-Demand G and VT instances"}, true
	case "p":
		return Quota{"L-417A185B", "Running On-Demand P instances"}, true
	case "x":
		return Quota{"L-7295265B", "Running On-Demand X instances"}, true
	case "f":
		return Quota{"L-74FC7D96", "Running On-Demand F instances"}, true
	case "inf":
		return Quota{"L-1945791B", "Running On-Demand Inf instances"}, true
	case "trn":
		return Quota{"L-2C3B7624", "Running On-Demand Trn instances"}, true
	case "dl":
		return Quota{"L-6E869C2A", "Running On-Demand DL instances"}, true
	case "hpc":
		return Quota{"L-F7808C92", "Running On-Demand HPC instances"}, true
	case "u":
		return Quota{"L-43DA4232", "Running On-Demand High Memory instances"}, true
	}
	return Quota{}, false
}

func spotQuota(family, letters string) (Quota, bool) {
	switch letters {
	case "a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is":
		return Quota{"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"}, true
	case "g", "gr", "vt":
		return Quota{"L-3819A6DF", "All G and VT Spot Instance Requests"}, true
	case "p":
		if strings.HasPrefix(family, "p5") {
			return Quota{"L-C4BD4855", "All P5 Spot Instance Requests"}, true
		}
		if len(family) > 1 && strings.Contains("234", family[1:2]) {
			return Quota{"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"}, true
		}
	case "x":
		return Quota{"L-E3A00192", "All X Spot Instance Requests"}, true
	case "f":
		return Quota{"L-88CF9481", "All F Spot Instance Requests"}, true
	case "inf":
		return Quota{"L-B5D1601B", "All Inf Spot Instance Requests"}, true
	case "trn":
		return Quota{"L-6B0D517C", "All Trn Spot Instance Requests"}, true
	case "dl":
		return Quota{"L-85EED4F7", "All DL Spot Instance Requests"}, true
	}
	return Quota{}, false
}
