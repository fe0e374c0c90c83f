//! Frames as bytes: numbers, texts and lists, big-endian. Whatever the bytes are, reading them ends.

/// A body that is being written.
#[derive(Debug, Default)]
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    /// The whole frame: its length, its kind, its body.
    pub fn frame(self, kind: u8) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.0.len() + 5);
        frame.extend((self.0.len() as i32 + 1).to_be_bytes());
        frame.push(kind);
        frame.extend(self.0);
        frame
    }

    pub fn u8(&mut self, value: u8) -> &mut Encoder {
        self.0.push(value);
        self
    }

    pub fn bool(&mut self, value: bool) -> &mut Encoder {
        self.u8(value.into())
    }

    pub fn i32(&mut self, value: i32) -> &mut Encoder {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Encoder {
        self.i32(text.len() as i32);
        self.0.extend(text.as_bytes());
        self
    }

    pub fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Encoder, &T)) -> &mut Encoder {
        self.i32(items.len() as i32);
        items.iter().for_each(|one| item(self, one));
        self
    }
}

/// A body that is being read.
#[derive(Debug)]
pub(crate) struct Decoder<'a>(&'a [u8]);

/// The bytes are no such frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl<'a> Decoder<'a> {
    pub fn new(body: &'a [u8]) -> Decoder<'a> {
        Decoder(body)
    }

    /// Nothing may be left over.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    pub fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_be_bytes)
    }

    pub fn blob(&mut self) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(self.i32()?).map_err(|_| Malformed)?;
        let (blob, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(blob)
    }

    pub fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.blob()?.to_vec()).map_err(|_| Malformed)
    }

    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Decoder<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = usize::try_from(self.i32()?).map_err(|_| Malformed)?;
        // Every item takes a byte at least.
        if count > self.0.len() {
            return Err(Malformed);
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut body = Encoder::default();
        body.i32(-1).text("ä").bool(true).list(&["a", "b"], |to, item| _ = to.text(item));
        let frame = body.frame(7);
        assert_eq!(frame[..5], [0, 0, 0, frame.len() as u8 - 4, 7]);
        let mut read = Decoder::new(&frame[5..]);
        assert_eq!(read.i32(), Ok(-1));
        assert_eq!(read.text(), Ok("ä".to_owned()));
        assert_eq!(read.u8(), Ok(1));
        assert_eq!(read.list(Decoder::text), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(read.end(), Ok(()));
    }

    #[test]
    fn lengths_that_lie_are_malformed() {
        for bytes in [&[0xff; 4][..], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0, 2, 1], &[0, 0]] {
            assert_eq!(Decoder::new(bytes).blob(), Err(Malformed));
            assert_eq!(Decoder::new(bytes).list(Decoder::i64), Err(Malformed));
        }
        assert_eq!(Decoder::new(&[0, 0, 0, 1, 0xff]).text(), Err(Malformed));
        assert_eq!(Decoder::new(&[0]).end(), Err(Malformed));
    }
}
