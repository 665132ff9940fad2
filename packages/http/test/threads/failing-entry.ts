throw new Error('This entry fails');
