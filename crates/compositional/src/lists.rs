//! A list for each number, all of them in one piece of memory.

pub(crate) struct Lists<T> {
    /// Where the list of each number begins.
    begins: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// For the numbers below `count`; the items are asked for twice, and come in the same order.
    pub fn of<I: Iterator<Item = (u32, T)>>(count: usize, items: impl Fn() -> I) -> Lists<T> {
        let mut begins = vec![0; count + 1];
        items().for_each(|(number, _)| begins[number as usize + 1] += 1);
        for number in 0..count {
            begins[number + 1] += begins[number];
        }
        let mut free = begins.clone();
        let mut all = vec![T::default(); begins[count] as usize];
        for (number, item) in items() {
            let place = &mut free[number as usize];
            all[*place as usize] = item;
            *place += 1;
        }
        Lists { begins, items: all }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    pub fn get(&self, number: u32) -> &[T] {
        let [first, end] = [number as usize, number as usize + 1].map(|at| self.begins[at] as usize);
        &self.items[first..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_the_list_of_its_number() {
        let items = [(2, 'a'), (0, 'b'), (2, 'c')];
        let lists = Lists::of(4, || items.into_iter());
        assert_eq!(lists.len(), 4);
        assert_eq!(
            [0, 1, 2, 3].map(|number| lists.get(number).iter().collect::<String>()),
            ["b", "", "ac", ""]
        );
    }
}
