package dynamo

import (
	"slices"
	"strings"
)

// keySchema is what a table or an index sorts by.
type keySchema struct {
	hash, ranged string
}

func (k keySchema) names() []string { return []string{k.hash, k.ranged} }

// table is a table with its indexes.
type table struct {
	name    string
	key     keySchema
	records partitions
	indexes map[string]*index
}

// index is a global secondary index. An item is in it that has both of its keys.
type index struct {
	key keySchema
	// include are the attributes beside the keys that it holds; all tells that it
	// holds every one.
	include []string
	all     bool
	records partitions
}

// partitions are items by their hash key, in each in the order of their range
// key; in an index those of one range key by the table's keys.
type partitions struct {
	order  func(a, b item) int
	byHash map[string][]item
}

func byKeys(keys ...string) func(a, b item) int {
	return func(a, b item) int {
		for _, k := range keys {
			if order := strings.Compare(a[k].text, b[k].text); order != 0 {
				return order
			}
		}
		return 0
	}
}

func (p *partitions) put(hash string, it item) {
	list := p.byHash[hash]
	i, found := slices.BinarySearchFunc(list, it, p.order)
	if found {
		list[i] = it
	} else {
		list = slices.Insert(list, i, it)
	}
	p.byHash[hash] = list
}

func (p *partitions) remove(hash string, it item) {
	list := p.byHash[hash]
	if i, found := slices.BinarySearchFunc(list, it, p.order); found {
		list = slices.Delete(list, i, i+1)
	}
	if p.byHash[hash] = list; len(list) == 0 {
		delete(p.byHash, hash)
	}
}

// get is the item with the keys of another; nil if there is none.
func (t *table) get(key item) item {
	list := t.records.byHash[key[t.key.hash].text]
	if i, found := slices.BinarySearchFunc(list, key, t.records.order); found {
		return list[i]
	}
	return nil
}

// put writes an item over what is there, and into the indexes that it belongs to.
func (t *table) put(it item) {
	t.unlist(t.get(it))
	t.records.put(it[t.key.hash].text, it)
	for _, x := range t.indexes {
		if x.holds(it) {
			x.records.put(it[x.key.hash].text, x.projected(t, it))
		}
	}
}

func (t *table) remove(it item) {
	t.unlist(it)
	t.records.remove(it[t.key.hash].text, it)
}

// unlist takes an item out of the indexes.
func (t *table) unlist(it item) {
	for _, x := range t.indexes {
		if it != nil && x.holds(it) {
			x.records.remove(it[x.key.hash].text, it)
		}
	}
}

func (x *index) holds(it item) bool {
	_, hash := it[x.key.hash]
	_, ranged := it[x.key.ranged]
	return hash && ranged
}

func (x *index) projected(t *table, it item) item {
	if x.all {
		return it
	}
	return it.only(slices.Concat(t.key.names(), x.key.names(), x.include)...)
}

// maxHashKey and maxRangeKey are the longest keys, maxItem the largest item, in
// bytes (Developer Guide, "Quotas").
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
	maxItem     = 400 << 10
)

// check refuses an item that DynamoDB would not write.
func (t *table) check(it item) error {
	if err := checkKeys(it, t.key, true); err != nil {
		return err
	}
	for _, x := range t.indexes {
		if err := checkKeys(it, x.key, false); err != nil {
			return err
		}
	}
	if it.size() > maxItem {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

func checkKeys(it item, key keySchema, must bool) error {
	for i, name := range key.names() {
		v, ok := it[name]
		most := []int{maxHashKey, maxRangeKey}[i]
		switch {
		case !ok && must:
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		case !ok:
		case v.kind != "S":
			return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: S actual: %s", name, v.kind)
		case v.text == "":
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
		case len(v.text) > most:
			return invalid("One or more parameter values were invalid: Size of the key %s has exceeded the maximum size limit of %d bytes", name, most)
		}
	}
	return nil
}

// checkKey refuses what is not exactly a key of the table.
func (t *table) checkKey(key item) error {
	if len(key) != 2 || checkKeys(key, t.key, true) != nil {
		return invalid("The provided key element does not match the schema")
	}
	return nil
}
