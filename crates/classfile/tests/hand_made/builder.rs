//! Writes class files byte by byte, well-formed or not, for tests of what no compiler produces.

pub struct ClassBuilder {
    version: (u16, u16),
    pool: Vec<u8>,
    pool_count: u16,
    methods: Vec<Vec<u8>>,
    fields: Vec<Vec<u8>>,
    attributes: Vec<Vec<u8>>,
}

impl ClassBuilder {
    /// A class `T` of Java 17 with nothing in it.
    pub fn new() -> Self {
        let (methods, fields, attributes) = (Vec::new(), Vec::new(), Vec::new());
        ClassBuilder { version: (61, 0), pool: Vec::new(), pool_count: 1, methods, fields, attributes }
    }

    pub fn version(&mut self, major: u16, minor: u16) {
        self.version = (major, minor);
    }

    pub fn text(&mut self, text: &str) -> u16 {
        self.raw_text(text.as_bytes())
    }

    pub fn raw_text(&mut self, bytes: &[u8]) -> u16 {
        let len = u16::try_from(bytes.len()).expect("short text");
        self.constant(1, &[&len.to_be_bytes(), bytes])
    }

    pub fn int(&mut self, value: i32) -> u16 {
        self.constant(3, &[&value.to_be_bytes()])
    }

    pub fn long(&mut self, value: i64) -> u16 {
        let index = self.constant(5, &[&value.to_be_bytes()]);
        self.pool_count += 1;
        index
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.indices(7, &[name])
    }

    pub fn string(&mut self, text: u16) -> u16 {
        self.indices(8, &[text])
    }

    pub fn name_and_type(&mut self, name: &str, descriptor: &str) -> u16 {
        let (name, descriptor) = (self.text(name), self.text(descriptor));
        self.indices(12, &[name, descriptor])
    }

    /// Tag 9 is a field, 10 a method, 11 a method of an interface.
    pub fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let (class, name) = (self.class(class), self.name_and_type(name, descriptor));
        self.indices(tag, &[class, name])
    }

    pub fn method_handle(&mut self, kind: u8, member: u16) -> u16 {
        self.constant(15, &[&[kind], &member.to_be_bytes()])
    }

    /// Tag 17 is a dynamic constant, 18 a dynamic call site.
    pub fn dynamic(&mut self, tag: u8, bootstrap: u16, name: &str, descriptor: &str) -> u16 {
        let name = self.name_and_type(name, descriptor);
        self.indices(tag, &[bootstrap, name])
    }

    pub fn constant(&mut self, tag: u8, parts: &[&[u8]]) -> u16 {
        self.pool.push(tag);
        self.pool.extend(parts.concat());
        self.pool_count += 1;
        self.pool_count - 1
    }

    fn indices(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        self.constant(tag, &[&numbers_as_bytes(numbers)])
    }

    pub fn attribute(&mut self, name: &str, body: &[u8]) -> Vec<u8> {
        let name = self.text(name);
        [&name.to_be_bytes()[..], &(body.len() as u32).to_be_bytes(), body].concat()
    }

    /// A `Code` attribute with room for four stack slots and locals.
    pub fn code(&mut self, bytes: &[u8], handlers: &[[u16; 4]], attributes: &[Vec<u8>]) -> Vec<u8> {
        let mut body = vec![0, 4, 0, 4];
        body.extend((bytes.len() as u32).to_be_bytes());
        body.extend(bytes);
        body.extend((handlers.len() as u16).to_be_bytes());
        body.extend(numbers_as_bytes(handlers.as_flattened()));
        body.extend(list(attributes));
        self.attribute("Code", &body)
    }

    pub fn method(&mut self, name: &str, attributes: &[Vec<u8>]) {
        let (name, descriptor) = (self.text(name), self.text("()V"));
        self.raw_method(name, descriptor, attributes);
    }

    pub fn raw_method(&mut self, name: u16, descriptor: u16, attributes: &[Vec<u8>]) {
        self.methods.push(raw_member(name, descriptor, attributes));
    }

    pub fn field(&mut self, name: &str, attributes: &[Vec<u8>]) {
        let (name, descriptor) = (self.text(name), self.text("I"));
        self.fields.push(raw_member(name, descriptor, attributes));
    }

    pub fn class_attribute(&mut self, attribute: Vec<u8>) {
        self.attributes.push(attribute);
    }

    pub fn build(mut self) -> Vec<u8> {
        let (this, parent) = (self.class("T"), self.class("java/lang/Object"));
        let (major, minor) = self.version;
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        bytes.extend(numbers_as_bytes(&[minor, major, self.pool_count]));
        bytes.extend(self.pool);
        bytes.extend(numbers_as_bytes(&[0x21, this, parent, 0]));
        bytes.extend(list(&self.fields));
        bytes.extend(list(&self.methods));
        bytes.extend(list(&self.attributes));
        bytes
    }
}

fn raw_member(name: u16, descriptor: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    [numbers_as_bytes(&[1, name, descriptor]), list(attributes)].concat()
}

fn numbers_as_bytes(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [&(items.len() as u16).to_be_bytes()[..], &items.concat()].concat()
}
