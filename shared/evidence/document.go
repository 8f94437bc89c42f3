package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"rollcall/shared/redact"
)

// document is a file that is put together of several answers.
type document struct {
	secrets *redact.Redactor
	order   []string
	members map[string]*member
}

// member is a list, whose items are each kept once, or a value.
type member struct {
	value json.RawMessage
	list  bool
	order []string
	items map[string]json.RawMessage
}

func (d *document) member(name string) *member {
	if m, ok := d.members[name]; ok {
		return m
	}
	if d.members == nil {
		d.members = map[string]*member{}
	}
	m := &member{}
	d.members[name], d.order = m, append(d.order, name)
	return m
}

// put keeps an item, the newest of each key.
func (m *member) put(key string, item json.RawMessage) {
	if m.items == nil {
		m.items = map[string]json.RawMessage{}
	}
	if key == "" {
		key = string(item)
	}
	if _, known := m.items[key]; !known {
		m.order = append(m.order, key)
	}
	m.items[key] = item
}

// bytes is the file.
func (d *document) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range d.order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n ")
		quote(&b, name)
		b.WriteString(": ")
		m := d.members[name]
		if !m.list {
			b.Write(m.value)
			continue
		}
		b.WriteByte('[')
		for k, key := range m.order {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			b.Write(m.items[key])
		}
		b.WriteByte(']')
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// add takes in an answer.
func (d *document) add(r read) error {
	if r.out == nil {
		return d.addKubernetes(r)
	}
	service, _, _ := strings.Cut(r.call, ":")
	switch service {
	case "cloudwatchlogs", "route53", "route53resolver", "route53profiles", "arczonalshift": // clients of our own, whose types are JSON's
		raw, err := json.Marshal(r.out)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return d.addJSON(raw)
	}
	d.addAnswer(encoder{lower: service == "eks", secrets: d.secrets}, reflect.Indirect(reflect.ValueOf(r.out)))
	return nil
}

// paging tells members that are about pages.
func paging(name string) bool {
	switch name {
	case "NextToken", "nextToken", "Marker", "IsTruncated", "ResultMetadata":
		return true
	}
	return false
}

func (d *document) addAnswer(e encoder, v reflect.Value) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		isList := f.Type.Kind() == reflect.Slice
		if !f.IsExported() || paging(f.Name) || unset(field) && !isList {
			continue
		}
		m := d.member(e.name(f.Name))
		if !isList {
			var b bytes.Buffer
			e.value(&b, field, f.Name)
			m.value = b.Bytes()
			continue
		}
		m.list = true
		for k := range field.Len() {
			if item := field.Index(k); f.Name == "Reservations" {
				e.instances(m, item)
			} else {
				var b bytes.Buffer
				e.value(&b, item, f.Name)
				m.put(idOf(item), b.Bytes())
			}
		}
	}
}

// instances keeps each instance in a reservation of its own: several answers have some of
// one reservation each.
func (e encoder) instances(m *member, reservation reflect.Value) {
	list := reservation.FieldByName("Instances")
	for i := range list.Len() {
		one := reflect.New(reservation.Type()).Elem()
		one.Set(reservation)
		one.FieldByName("Instances").Set(list.Slice(i, i+1))
		var b bytes.Buffer
		e.object(&b, one)
		m.put(idOf(list.Index(i)), b.Bytes())
	}
}

// idOf is the id of a resource; "" for what has none: it is known by all that it is.
func idOf(v reflect.Value) string {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return ""
	}
	name := v.Type().Name()
	field := name + "Id"
	switch name {
	case "SecurityGroup":
		field = "GroupId"
	case "InstanceTypeInfo":
		field = "InstanceType"
	case "AutoScalingGroup":
		field = "AutoScalingGroupName"
	case "InstanceStatus":
		field = "InstanceId"
	case "AvailabilityZone":
		field = "ZoneName"
	}
	if f := v.FieldByName(field); f.IsValid() {
		if list := texts(f); len(list) == 1 {
			return list[0]
		}
	}
	return ""
}

// addJSON takes in an answer that is JSON.
func (d *document) addJSON(raw []byte) error {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	for name, value := range tree {
		if paging(name) {
			continue
		}
		m := d.member(name)
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			m.value = json.RawMessage(d.secrets.JSON(string(value)))
			continue
		}
		m.list = true
		for _, item := range list {
			m.put("", json.RawMessage(d.secrets.JSON(string(item))))
		}
	}
	return nil
}

// addKubernetes takes in a page of a list, or an object, as kubectl prints it.
func (d *document) addKubernetes(r read) error {
	body, err := r.text()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var page struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	kind, isList := strings.CutSuffix(page.Kind, "List")
	if !isList {
		return d.addObject(body)
	}
	m := d.member("items")
	m.list = true
	for _, raw := range page.Items {
		object, err := d.objectOf(raw)
		if err != nil {
			return err
		}
		// The items of a list do not say what they are; kubectl adds it.
		object["apiVersion"], object["kind"] = page.APIVersion, kind
		meta, _ := object["metadata"].(map[string]any)
		item, err := json.Marshal(object)
		if err != nil {
			return fmt.Errorf("write an object: %w", err)
		}
		m.put(fmt.Sprint(meta["namespace"], "/", meta["name"]), item)
	}
	d.member("apiVersion").value, d.member("kind").value = json.RawMessage(`"v1"`), json.RawMessage(`"List"`)
	return nil
}

func (d *document) addObject(body []byte) error {
	object, err := d.objectOf(body)
	if err != nil {
		return err
	}
	for name, value := range object {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("write an object: %w", err)
		}
		d.member(name).value = raw
	}
	return nil
}

// objectOf is an object of Kubernetes without its fields' managers and its secrets.
func (d *document) objectOf(raw []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	object, _ = d.secrets.Tree("", object).(map[string]any)
	return object, nil
}
